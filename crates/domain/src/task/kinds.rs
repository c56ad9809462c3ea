//! The kinds of tasks, one file each: its [`Kind`], and the type of its arguments. The list makes [`Role`] and [`Args`] of them.
//!
//! In: the column `payload` of a task. Out: its typed arguments, read when a task is made and when it runs.

pub mod analytics_refresh;
pub mod appearances_sync;
pub mod download_media;
pub mod easynews_monitor;
pub mod entry_point_discovery;
pub mod forum_scrape;
pub mod notify;
pub mod paid_content_creator;
pub mod paid_content_sync;
pub mod payload_fetch;
pub mod product_discovery;
pub mod product_refresh;
pub mod scrape_account;
pub mod store_discovery;
pub mod youtube_monitor;

use serde::{Deserialize, de};
use serde_json::Value;
use thiserror::Error;

use crate::task::kind::Kind;
use crate::vocabulary::vocabulary;

/// Makes [`Role`] and [`Args`] of the kinds, in this order.
macro_rules! kinds {
    ($($role:ident($file:ident),)+) => {
        vocabulary! {
            pub enum Role {
                $($role,)+
            }
        }

        impl Role {
            pub const fn kind(self) -> Kind {
                match self {
                    $(Role::$role => $file::KIND,)+
                }
            }
        }

        /// A task's input, by role.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Args {
            $($role($file::Args),)+
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

kinds! {
    StoreDiscovery(store_discovery),
    EntryPointDiscovery(entry_point_discovery),
    ProductDiscovery(product_discovery),
    PayloadFetch(payload_fetch),
    ProductRefresh(product_refresh),
    AnalyticsRefresh(analytics_refresh),
    ScrapeAccount(scrape_account),
    DownloadMedia(download_media),
    PaidContentSync(paid_content_sync),
    PaidContentCreator(paid_content_creator),
    ForumScrape(forum_scrape),
    YoutubeMonitor(youtube_monitor),
    EasynewsMonitor(easynews_monitor),
    AppearancesSync(appearances_sync),
    Notify(notify),
}

/// Maximum number of ids of one job.
const MAX_IDS: usize = 1_000;

fn within_limit<E: de::Error>(field: &str, ids: Vec<i64>) -> Result<Vec<i64>, E> {
    match ids.len() {
        1..=MAX_IDS => Ok(ids),
        number => Err(E::custom(format!("{field}: {number} ids; 1 to {MAX_IDS} are allowed"))),
    }
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
    use strum::VariantArray;

    use super::*;
    use crate::task::kind::Schedule;

    #[rstest]
    #[case(Role::ScrapeAccount, Some("username"), None)]
    #[case(Role::DownloadMedia, None, Some("media_ids"))]
    #[case(Role::PaidContentCreator, Some("creator_id"), None)]
    #[case(Role::ForumScrape, None, Some("thread_ids"))]
    #[case(Role::EasynewsMonitor, None, Some("search_queries"))]
    #[case(Role::Notify, Some("endpoint_id"), None)]
    #[case(Role::PaidContentSync, None, None)]
    #[case(Role::PayloadFetch, None, None)]
    fn two_tasks_with_the_same_arguments_of_their_key_are_one(
        #[case] role: Role,
        #[case] account: Option<&str>,
        #[case] argument: Option<&str>,
    ) {
        let key = role.kind().key;
        assert_eq!((key.account, key.argument), (account, argument));
    }

    #[test]
    fn a_new_installation_has_these_schedules() {
        let text = |schedule: &Schedule| match schedule {
            Schedule::Always(always) => format!("{} every {} h at {}", always.name, always.hours, always.priority),
            Schedule::WithRows { table, event, only, hours } => {
                format!("{table} every {hours} h on {event} {}", only.unwrap_or("of any row"))
            }
        };
        let schedules: Vec<String> = Role::VARIANTS.iter().flat_map(|role| role.kind().schedules).map(text).collect();
        let expected = [
            "payload_fetch_all every 4 h at 0",
            "analytics_refresh every 6 h at 0",
            "media_accounts every 6 h on INSERT OR UPDATE OF kind NEW.kind = 'creator'",
            "watched_threads every 6 h on INSERT of any row",
            "watched_channels every 1 h on INSERT of any row",
            "saved_searches every 6 h on INSERT of any row",
            "people every 24 h on INSERT of any row",
        ];
        assert_eq!(schedules, expected);
    }

    #[test]
    fn a_completed_fetch_makes_a_refresh() {
        let pairs = Role::VARIANTS.iter().filter_map(|role| role.kind().follow_up.map(|next| (*role, next)));
        let expected = [
            (Role::EntryPointDiscovery, Role::ProductDiscovery),
            (Role::ProductDiscovery, Role::ProductRefresh),
            (Role::PayloadFetch, Role::ProductRefresh),
        ];
        assert_eq!(pairs.collect::<Vec<_>>(), expected);
    }

    #[rstest]
    #[case::null_is_empty(Role::PayloadFetch, json!(null), Args::PayloadFetch(payload_fetch::Args {}))]
    #[case::a_payload_id(Role::ProductRefresh, json!({"payload_id": 7}), Args::ProductRefresh(product_refresh::Args { payload_id: Some(7) }))]
    #[case::items(Role::DownloadMedia, json!({"media_ids": [7]}), Args::DownloadMedia(download_media::Args { media_ids: vec![7], source: None }))]
    #[case::no_payload_id(Role::ProductRefresh, json!({}), Args::ProductRefresh(product_refresh::Args { payload_id: None }))]
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
