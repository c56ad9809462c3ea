//! Records: the rows that people add, change and remove, such as watched channels and rules of notifications. One file a
//! kind.
//!
//! All kinds have the same endpoints, commands and statements; a kind says which fields it has and checks
//! them.

pub mod accounts;
pub mod change_rules;
pub mod channels;
pub mod credentials;
pub mod endpoints;
pub mod forums;
pub mod items;
pub mod people;
pub mod rules;
pub mod searches;
pub mod threads;

mod record;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checks::BadField;
use domain::media::forum::SelectorOverrides;
use domain::vocabulary::vocabulary;

/// Fields whose values are texts, of every kind: digits given for them are a text, too.
const TEXT_FIELDS: [&str; 17] = [
    "account",
    "base_url",
    "brand",
    "category",
    "channel_id",
    "digest",
    "external_id",
    "group_name",
    "job_type",
    "kind",
    "name",
    "platform",
    "query",
    "state",
    "target",
    "url",
    "username",
];

vocabulary! {
    pub enum RecordKind {
        Accounts,
        ChangeRules,
        Channels,
        Credentials,
        Endpoints,
        Forums,
        People,
        Rules,
        Searches,
        Threads,
    }
}

/// A row of a kind, as shown to users.
pub trait Record: Serialize + DeserializeOwned + Send + Sync {
    const KIND: RecordKind;
    /// The fields of a new one.
    type Draft: Fields;
    /// The fields to change; an absent one stays as it is.
    type Change: Fields;

    fn id(&self) -> i64;
}

/// Fields of a request. Each is written to the column of its name.
pub trait Fields: std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync {
    fn check(&self) -> Result<(), BadField>;

    /// The secret among them, which is stored apart from the others.
    fn secret(&self) -> Option<&str> {
        None
    }

    /// The selectors among them, whose CSS the API checks.
    fn selectors(&self) -> Option<&SelectorOverrides> {
        None
    }

    /// An address that a job will ask, with the name of its field.
    fn address(&self) -> Option<(&'static str, &str)> {
        None
    }
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RecordPage<T> {
    pub records: Vec<T>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<super::cursor::Cursor>,
}

impl RecordKind {
    /// One of the kind: `channel`.
    pub fn noun(self) -> &'static str {
        match self {
            RecordKind::Accounts => "account",
            RecordKind::ChangeRules => "change rule",
            RecordKind::Channels => "channel",
            RecordKind::Credentials => "credential",
            RecordKind::Endpoints => "endpoint",
            RecordKind::Forums => "forum",
            RecordKind::People => "person",
            RecordKind::Rules => "rule",
            RecordKind::Searches => "search",
            RecordKind::Threads => "thread",
        }
    }

    /// The fields that no two of the kind have alike.
    pub fn key(self) -> &'static str {
        match self {
            RecordKind::Accounts => "platform and username",
            RecordKind::Channels => "channel_id",
            RecordKind::ChangeRules | RecordKind::Credentials | RecordKind::Endpoints | RecordKind::Forums => "name",
            RecordKind::People => "tmdb_id",
            RecordKind::Rules => "endpoint_id, events, job_type, platform and account",
            RecordKind::Searches => "query",
            RecordKind::Threads => "forum_id and external_id",
        }
    }

    /// The field that says how its last use by a job ended.
    pub fn result_field(self) -> Option<&'static str> {
        match self {
            RecordKind::Credentials => Some("last_result"),
            RecordKind::Endpoints => Some("disabled_reason"),
            RecordKind::ChangeRules | RecordKind::Forums | RecordKind::Rules => None,
            RecordKind::Accounts
            | RecordKind::Channels
            | RecordKind::People
            | RecordKind::Searches
            | RecordKind::Threads => Some("last_error"),
        }
    }

    /// Fields that a new one may have, beside a secret.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            RecordKind::Accounts => {
                &["platform", "username", "kind", "url", "credential_id", "interval_hours", "enabled"]
            }
            RecordKind::ChangeRules => &[
                "name",
                "endpoint_id",
                "kinds",
                "store_id",
                "group_name",
                "state",
                "brand",
                "category",
                "product_id",
                "min_percent",
                "min_cents",
                "max_price",
                "max_unit_price",
                "quiet_minutes",
                "digest",
                "enabled",
            ],
            RecordKind::Channels => &["channel_id", "download", "enabled"],
            RecordKind::Credentials => &["name", "platform", "kind", "username"],
            RecordKind::Endpoints => &["name", "kind", "target", "credential_id", "previous_credential_id", "enabled"],
            RecordKind::Forums => &["name", "kind", "base_url", "credential_id", "selectors"],
            RecordKind::People => &["tmdb_id", "name", "enabled"],
            RecordKind::Rules => &["endpoint_id", "events", "job_type", "platform", "account", "digest"],
            RecordKind::Searches => &["query", "extensions", "min_bytes", "download", "enabled"],
            RecordKind::Threads => &["forum_id", "external_id", "download", "enabled"],
        }
    }
}

/// Whether the values of this field are texts, whatever they look like.
pub fn is_text_field(name: &str) -> bool {
    TEXT_FIELDS.contains(&name)
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Every field of a draft, as it is written.
    fn written<R: Record>(draft: Value) {
        let draft: R::Draft = serde_json::from_value(draft).unwrap();
        draft.check().unwrap();
        let Value::Object(fields) = serde_json::to_value(draft).unwrap() else { panic!("no object") };
        for (name, value) in fields.iter().filter(|(name, value)| *name != "secret" && !value.is_null()) {
            assert_eq!(value.is_string(), is_text_field(name), "{name} of a new {}", R::KIND.noun());
        }
        let mut names: Vec<&str> = fields.keys().map(String::as_str).filter(|name| *name != "secret").collect();
        let mut listed = R::KIND.fields().to_vec();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed, "a new {} is written whole", R::KIND.noun());
    }

    #[test]
    fn a_draft_has_a_value_for_every_field_of_its_kind() {
        written::<accounts::Account>(json!({"platform": "mastodon", "username": "ann"}));
        written::<change_rules::ChangeRule>(json!({"name": "a", "endpoint_id": 1, "kinds": ["gone"]}));
        written::<channels::Channel>(json!({"channel_id": "UCabcdefghijklmnopqrstuv"}));
        let endpoint = json!({"name": "a", "kind": "ntfy", "target": "https://ntfy.sh/a"});
        written::<endpoints::Endpoint>(endpoint);
        written::<rules::Rule>(json!({"endpoint_id": 1, "events": ["job.failed"]}));
        written::<forums::Forum>(json!({"name": "a", "kind": "phpbb", "base_url": "https://forum.example"}));
        written::<threads::Thread>(json!({"forum_id": 1, "external_id": "2"}));
        written::<people::Person>(json!({"tmdb_id": 31, "name": "Ann"}));
        written::<searches::Search>(json!({"query": "linux"}));
        let credential = json!({"name": "a", "platform": "tmdb", "kind": "token", "secret": "s"});
        written::<credentials::Credential>(credential);
    }
}
