//! The names of ids. A build script calls [`describe`], so that `utoipa`'s derives in its crate show an id as the number that it is.

/// Other names of i64, which the OpenAPI document shows as what they are.
const IDS: [&str; 7] = ["PayloadId", "ProbeNumber", "ProductId", "ProxyId", "StoreId", "TaskId", "TokenId"];

pub fn describe() {
    IDS.iter().fold(utoipa_config::Config::new(), |config, id| config.alias_for(id, "i64")).write_to_file();
}
