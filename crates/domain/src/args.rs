//! The typed input of each role (column `payload` of a task), read when a task is made and when it runs.

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use thiserror::Error;

use super::role::Role;

/// Makes [`Args`] from the roles, each with the type of its input.
macro_rules! args {
    ($($role:ident($input:ident),)+) => {
        /// A task's input, by role.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Args {
            $($role($input),)+
        }

        impl Args {
            /// Reads the column `payload`; null is the same as an empty object.
            pub fn read(role: Role, payload: &Value) -> Result<Args, BadArgs> {
                Ok(match role {
                    $(Role::$role => Args::$role(typed(role, payload)?),)+
                })
            }
        }
    };
}

args! {
    StoreDiscovery(StoreDiscovery),
    EntryPointDiscovery(EntryPointDiscovery),
    ProductDiscovery(PayloadFetch),
    PayloadFetch(PayloadFetch),
    ProductRefresh(ProductRefresh),
    AnalyticsRefresh(AnalyticsRefresh),
    ScrapeAccount(ScrapeAccount),
    DownloadMedia(DownloadMedia),
    ForumScrape(ForumScrape),
    PaidContentSync(PaidContentSync),
    PaidContentCreator(PaidContentCreator),
    YoutubeMonitor(YoutubeMonitor),
    EasynewsMonitor(EasynewsMonitor),
    AppearancesSync(AppearancesSync),
    Notify(Notify),
}

/// Asks every state's discovery points, one state's, or some of one state's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreDiscovery {
    pub state_code: Option<String>,
    /// Numbers of the state's points, from 0, as the configuration lists them; none = all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<u32>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EntryPointDiscovery {}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PayloadFetch {}

/// Which payload to turn into products; none means the store's latest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProductRefresh {
    pub payload_id: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalyticsRefresh {}

/// Lists the media of an account. The username is the task's account where it is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScrapeAccount {
    pub username: Option<String>,
    /// None: the default.
    pub scrape_type: Option<ScrapeType>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScrapeType {
    /// Stops after items that are known.
    #[default]
    Recent,
    Full,
}

/// Maximum number of ids of one job.
const MAX_IDS: usize = 1_000;

fn media_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    within_limit("media_ids", Vec::deserialize(deserializer)?)
}

fn creator_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<i64>>, D::Error> {
    Option::deserialize(deserializer)?.map(|ids| within_limit("creator_ids", ids)).transpose()
}

fn thread_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<i64>>, D::Error> {
    Option::deserialize(deserializer)?.map(|ids| within_limit("thread_ids", ids)).transpose()
}

fn within_limit<E: de::Error>(field: &str, ids: Vec<i64>) -> Result<Vec<i64>, E> {
    match ids.len() {
        1..=MAX_IDS => Ok(ids),
        number => Err(E::custom(format!("{field}: {number} ids; 1 to {MAX_IDS} are allowed"))),
    }
}

/// Items to download, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DownloadMedia {
    #[serde(deserialize_with = "media_ids")]
    pub media_ids: Vec<i64>,
    /// Items of another source are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Creators to sync; none: all that are enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaidContentSync {
    #[serde(deserialize_with = "creator_ids")]
    pub creator_ids: Option<Vec<i64>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaidContentCreator {
    pub creator_id: i64,
}

/// Threads to read; none: all that are watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForumScrape {
    #[serde(deserialize_with = "thread_ids")]
    pub thread_ids: Option<Vec<i64>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct YoutubeMonitor {}

/// Searches to run; none: the saved ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EasynewsMonitor {
    pub search_queries: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AppearancesSync {}

/// The endpoint whose notifications are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notify {
    pub endpoint_id: i64,
}

#[derive(Debug, Error)]
#[error("the payload of {role}: {fault}")]
pub struct BadArgs {
    role: Role,
    fault: String,
}

fn typed<'a, T: Deserialize<'a> + Default>(role: Role, payload: &'a Value) -> Result<T, BadArgs> {
    if payload.is_null() {
        return Ok(T::default());
    }
    if !payload.is_object() {
        return Err(BadArgs { role, fault: "expected an object".to_owned() });
    }
    T::deserialize(payload).map_err(|error| BadArgs { role, fault: error.to_string() })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::null_is_empty(Role::PayloadFetch, json!(null), Args::PayloadFetch(PayloadFetch {}))]
    #[case::a_payload_id(Role::ProductRefresh, json!({"payload_id": 7}), Args::ProductRefresh(ProductRefresh { payload_id: Some(7) }))]
    #[case::items(Role::DownloadMedia, json!({"media_ids": [7]}), Args::DownloadMedia(DownloadMedia { media_ids: vec![7], source: None }))]
    #[case::no_payload_id(Role::ProductRefresh, json!({}), Args::ProductRefresh(ProductRefresh { payload_id: None }))]
    fn payloads_become_args(#[case] role: Role, #[case] payload: Value, #[case] args: Args) {
        assert_eq!(Args::read(role, &payload).ok(), Some(args));
    }

    #[rstest]
    #[case::unknown_field(Role::ProductRefresh, json!({"payloadid": 7}), "payloadid")]
    #[case::wrong_type(Role::ProductRefresh, json!({"payload_id": "7"}), "expected i64")]
    #[case::no_object(Role::PayloadFetch, json!([1]), "payload_fetch")]
    #[case::no_items(Role::DownloadMedia, json!({}), "media_ids")]
    #[case::an_empty_list(Role::DownloadMedia, json!({"media_ids": []}), "media_ids: 0 ids; 1 to 1000 are allowed")]
    #[case::too_many_items(Role::DownloadMedia, json!({"media_ids": vec![7; 1_001]}), "media_ids: 1001 ids; 1 to 1000 are allowed")]
    #[case::too_many_creators(Role::PaidContentSync, json!({"creator_ids": vec![7; 1_001]}), "creator_ids: 1001 ids; 1 to 1000 are allowed")]
    #[case::too_many_threads(Role::ForumScrape, json!({"thread_ids": vec![7; 1_001]}), "thread_ids: 1001 ids; 1 to 1000 are allowed")]
    fn a_wrong_payload_is_refused_by_name(#[case] role: Role, #[case] payload: Value, #[case] offender: &str) {
        let error = Args::read(role, &payload).unwrap_err().to_string();
        assert!(error.contains(offender), "{error}");
    }
}
