//! Parameters of a database URL that libpq or other programs take and the driver refuses.
//!
//! In: a URL. Out: the URL without parameters that change nothing here, or the remedy for one that does.

use settings::DatabaseUrl;

/// Parameters whose wish is met anyway, or has no meaning here: texts are UTF-8, TLS is 1.2 or later and sends the host's name,
/// there is no GSSAPI, and drover sets the times of keepalives and its name itself.
const HARMLESS: [&str; 13] = [
    "client_encoding",
    "fallback_application_name",
    "gssdelegation",
    "gsslib",
    "keepalives_count",
    "krbsrvname",
    "max_protocol_version",
    "min_protocol_version",
    "ssl_max_protocol_version",
    "sslcompression",
    "sslkeylogfile",
    "sslsni",
    "tty",
];
/// Harmless unless they have this value, which asks for what drover does not do.
const HARMLESS_BUT_FOR: [(&str, &str); 2] = [("gssencmode", "require"), ("ssl_min_protocol_version", "TLSv1.3")];

/// Parameters by which other programs tell their driver that a pooler is in front of the server.
const OF_POOLERS: [&str; 5] =
    ["pgbouncer", "prepareThreshold", "prepared_statements", "prepared_statement_cache_size", "statement_cache_size"];
/// Parameters of other programs and their drivers.
const FOREIGN: [&str; 6] =
    ["connection_limit", "pool_max_conns", "pool_timeout", "schema", "socket_timeout", "sslaccept"];

/// Removes the parameters that change nothing here.
pub fn take_harmless(url: &mut DatabaseUrl) {
    for name in HARMLESS {
        url.take(name);
    }
    for (name, harmful) in HARMLESS_BUT_FOR {
        if let Some(value) = url.take(name).filter(|value| value.eq_ignore_ascii_case(harmful)) {
            url.set(name, &value);
        }
    }
}

/// The remedy for the first parameter of another program.
pub fn remedy(url: &DatabaseUrl) -> Option<String> {
    url.names().find_map(|name| match name {
        name if OF_POOLERS.contains(&name) => {
            Some(format!("{name} is a parameter of other programs: leave it out, and set database.pooler = true"))
        }
        "schema" => {
            Some("schema is a parameter of other programs: use options=-csearch_path=… in its place".to_owned())
        }
        name if FOREIGN.contains(&name) => Some(format!("{name} is a parameter of other programs: leave it out")),
        _ => None,
    })
}
