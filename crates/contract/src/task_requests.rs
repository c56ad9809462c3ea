//! `TaskRequest`: a task that a person or program requests by API or command line, and all its checks that
//! need no database. The database checks that its store and the tasks it waits for exist.
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::checks::{BadField, RETRIES, bad, check_priority, check_time, dependencies_of, within};
use super::tasks::TaskView;
use domain::store::state_code::StateCode;
use domain::store::{Platform, StoreId};
use domain::task::TaskId;
use domain::task::kinds::Args;
use domain::task::role::{Family, RESYNC, Role, names_and_resync};
use domain::vocabulary;

/// Maximum points; more than any state has.
const MAX_POINTS: usize = 1000;
const MAX_KEY_BYTES: usize = 200;

/// The fields of `POST /api/tasks`, as received.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRequest {
    /// A role; `product_resync` means `product_refresh` with a `payload_id` in its payload, else `payload_fetch`.
    #[schema(schema_with = names_and_resync)]
    pub role: String,
    pub dispensary_id: Option<StoreId>,
    #[schema(value_type = Option<Platform>)]
    pub platform: Option<String>,
    /// Higher is claimed first.
    #[schema(minimum = -1000, maximum = 1000)]
    pub priority: Option<i64>,
    pub scheduled_for: Option<DateTime<Utc>>,
    /// The role's arguments.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub payload: Value,
    #[schema(minimum = 0, maximum = 20)]
    pub max_retries: Option<i64>,
    /// Tasks that must complete before it is claimed.
    #[schema(max_items = 100)]
    pub depends_on: Option<Vec<TaskId>>,
    /// Key that at most one open task has.
    #[schema(min_length = 1, max_length = 200)]
    pub dedup_key: Option<String>,
}

/// A request whose fields are each valid.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedRequest {
    pub role: Role,
    /// Present exactly when the role is per store.
    pub dispensary_id: Option<StoreId>,
    pub platform: Option<Platform>,
    pub priority: i32,
    pub scheduled_for: Option<DateTime<Utc>>,
    pub payload: Value,
    pub max_retries: Option<i32>,
    pub depends_on: Vec<TaskId>,
    dedup_key: Option<String>,
}

/// The task that a request resulted in.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RequestedTask {
    #[serde(flatten)]
    pub task: TaskView,
    /// Whether it was already waiting with a lower priority, and now has that of the request.
    #[serde(default)]
    pub raised: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest {
    /// One request body per task. A faulty one is refused without affecting the others.
    #[schema(value_type = Vec<serde_json::Value>, min_items = 1, max_items = 10_000)]
    pub tasks: Vec<Box<RawValue>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BatchAnswer {
    pub made: usize,
    /// Tasks that were already waiting with a lower priority, and now have that of their requests.
    #[serde(default)]
    pub raised: usize,
    pub refused: usize,
    /// Result of each request, in the order of the requests.
    pub tasks: Vec<BatchItem>,
}

/// Result of one request of a batch.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct BatchItem {
    /// Id of the created task, or of the open task that does the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TaskId>,
    /// Whether it was already waiting, and now has the priority of the request.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schema(required = false)]
    pub raised: bool,
    /// Why no task was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The field that is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl TaskRequest {
    /// Returns the first fault, or the request with its defaults.
    pub fn check(self, now: DateTime<Utc>) -> Result<CheckedRequest, BadField> {
        let payload = if self.payload.is_null() { Value::Object(Default::default()) } else { self.payload };
        let role = role_of(&self.role, &payload)?;
        let payload = check_payload(role, payload)?;
        check_store(role, self.dispensary_id)?;
        Ok(CheckedRequest {
            role,
            dispensary_id: self.dispensary_id,
            platform: platform_of(role, self.platform)?,
            priority: check_priority(self.priority)?.unwrap_or(role.default_priority()),
            scheduled_for: check_time(self.scheduled_for, now)?,
            payload,
            max_retries: within("max_retries", self.max_retries, RETRIES)?,
            depends_on: dependencies_of(self.depends_on.unwrap_or_default())?,
            dedup_key: key_of(self.dedup_key)?,
        })
    }
}

impl CheckedRequest {
    /// The request's own key, else [`CheckedRequest::default_key`].
    pub fn dedup_key(&self) -> String {
        self.dedup_key.clone().unwrap_or_else(|| self.default_key())
    }

    /// `{role}:{store, or platform and state}[:payload_id]`.
    pub fn default_key(&self) -> String {
        let place = match (self.dispensary_id, self.platform) {
            (Some(store), _) => Some(store.to_string()),
            (None, platform) => platform.map(|platform| platform.name().to_owned()),
        };
        let state = self.payload.get("state_code").and_then(Value::as_str).map(str::to_owned);
        let parts = [Some(self.role.name().to_owned()), place, state, self.payload_id()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(":")
    }

    /// The `payload_id` of its arguments, as text; None for null.
    pub fn payload_id(&self) -> Option<String> {
        self.payload.get("payload_id").filter(|id| !id.is_null()).map(Value::to_string)
    }
}

fn role_of(name: &str, payload: &Value) -> Result<Role, BadField> {
    // it fetched, or took an existing payload
    if name == RESYNC {
        let replays = payload.get("payload_id").is_some();
        return Ok(if replays { Role::ProductRefresh } else { Role::PayloadFetch });
    }
    requested_role(name)
}

/// The role of this name. A service is refused: a second task beside the program's own would do its work twice.
pub(crate) fn requested_role(name: &str) -> Result<Role, BadField> {
    let role: Role = name.parse().map_err(|unknown| bad("role", unknown))?;
    match role.family() {
        Family::Service => Err(bad("role", format!("{role} tasks are created only by drover itself"))),
        Family::Crawl | Family::Media => Ok(role),
    }
}

/// Checks the payload; puts its state code in capital letters.
pub(crate) fn check_payload(role: Role, mut payload: Value) -> Result<Value, BadField> {
    let args = Args::read(role, &payload).map_err(|error| bad("payload", error))?;
    let Args::StoreDiscovery(args) = args else { return Ok(payload) };
    if let Some(points) = &args.points
        && (args.state_code.is_none() || points.len() > MAX_POINTS)
    {
        return Err(bad("payload", format!("points are at most {MAX_POINTS} numbers of a state_code's points")));
    }
    if let Some(code) = args.state_code {
        let code = code.parse::<StateCode>().map_err(|fault| bad("payload", format!("state_code {fault}")))?;
        payload["state_code"] = Value::String(code.to_string());
    }
    Ok(payload)
}

fn check_store(role: Role, store: Option<StoreId>) -> Result<(), BadField> {
    match (role.per_store(), store) {
        (true, None) => Err(bad("dispensary_id", format!("missing: a {role} task needs the id of its store"))),
        (false, Some(_)) => Err(bad("dispensary_id", format!("leave it out: {role} tasks have no store"))),
        _ => Ok(()),
    }
}

fn platform_of(role: Role, name: Option<String>) -> Result<Option<Platform>, BadField> {
    match name {
        Some(name) => name.parse().map(Some).map_err(|unknown| bad("platform", unknown)),
        None if role == Role::StoreDiscovery => Err(bad(
            "platform",
            format!("missing: a {role} task needs a platform ({})", vocabulary::words::<Platform>()),
        )),
        None => Ok(None),
    }
}

fn key_of(key: Option<String>) -> Result<Option<String>, BadField> {
    match key {
        Some(key) if !(1..=MAX_KEY_BYTES).contains(&key.len()) => {
            Err(bad("dedup_key", format!("{} bytes is out of range (1 to {MAX_KEY_BYTES})", key.len())))
        }
        Some(key) if key.contains(char::is_control) => Err(bad("dedup_key", "holds a control character")),
        other => Ok(other),
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn check(body: Value) -> Result<CheckedRequest, BadField> {
        serde_json::from_value::<TaskRequest>(body).unwrap().check("2026-01-01T12:00:00Z".parse().unwrap())
    }

    #[rstest]
    #[case::a_store(json!({"role": "payload_fetch", "dispensary_id": 7}), "payload_fetch:7")]
    #[case::a_payload(json!({"role": "product_refresh", "dispensary_id": 7, "payload": {"payload_id": 9}}), "product_refresh:7:9")]
    #[case::the_latest(json!({"role": "product_refresh", "dispensary_id": 7, "payload": {"payload_id": null}}), "product_refresh:7")]
    #[case::a_platform(json!({"role": "store_discovery", "platform": "dutchie"}), "store_discovery:dutchie")]
    #[case::a_state(json!({"role": "store_discovery", "platform": "dutchie", "payload": {"state_code": "az"}}), "store_discovery:dutchie:AZ")]
    #[case::neither(json!({"role": "analytics_refresh"}), "analytics_refresh")]
    #[case::its_own(json!({"role": "analytics_refresh", "dedup_key": "k"}), "k")]
    #[case::the_old_name_fetches(json!({"role": "product_resync", "dispensary_id": 7}), "payload_fetch:7")]
    #[case::the_old_name_replays(json!({"role": "product_resync", "dispensary_id": 7, "payload": {"payload_id": 9}}), "product_refresh:7:9")]
    fn a_task_is_queued_once_for_its_role_and_place(#[case] body: Value, #[case] key: &str) {
        assert_eq!(check(body).unwrap().dedup_key(), key);
    }

    #[rstest]
    #[case::role(json!({"role": "payload_fetsch"}), "role")]
    #[case::made_by_drover(json!({"role": "notify", "payload": {"endpoint_id": 1}}), "role")]
    #[case::no_store(json!({"role": "payload_fetch"}), "dispensary_id")]
    #[case::a_store_too_many(json!({"role": "analytics_refresh", "dispensary_id": 7}), "dispensary_id")]
    #[case::no_platform(json!({"role": "store_discovery"}), "platform")]
    #[case::platform(json!({"role": "store_discovery", "platform": "moon"}), "platform")]
    #[case::priority(json!({"role": "analytics_refresh", "priority": 1001}), "priority")]
    #[case::huge_priority(json!({"role": "analytics_refresh", "priority": 1i64 << 40}), "priority")]
    #[case::retries(json!({"role": "analytics_refresh", "max_retries": -1}), "max_retries")]
    #[case::args(json!({"role": "analytics_refresh", "payload": {"x": 1}}), "payload")]
    #[case::state(json!({"role": "store_discovery", "platform": "dutchie", "payload": {"state_code": "Arizona"}}), "payload")]
    #[case::points_of_no_state(json!({"role": "store_discovery", "platform": "dutchie", "payload": {"points": [1]}}), "payload")]
    #[case::empty_key(json!({"role": "analytics_refresh", "dedup_key": ""}), "dedup_key")]
    #[case::broken_key(json!({"role": "analytics_refresh", "dedup_key": "a\u{0}"}), "dedup_key")]
    #[case::far_future(json!({"role": "analytics_refresh", "scheduled_for": "+12000-01-01T00:00:00Z"}), "scheduled_for")]
    #[case::a_typing_error(json!({"role": "analytics_refresh", "scheduled_for": "2099-01-01T00:00:00Z"}), "scheduled_for")]
    fn what_is_wrong_is_named(#[case] body: Value, #[case] field: &str) {
        assert_eq!(check(body).unwrap_err().field, field);
    }

    #[test]
    fn a_number_out_of_range_is_refused_with_the_range() {
        let error = check(json!({"role": "analytics_refresh", "max_retries": 21})).unwrap_err();
        assert_eq!(error.to_string(), "max_retries: 21 is out of range (0 to 20)");
    }

    #[test]
    fn an_urgent_role_keeps_its_default_priority() {
        let asked = check(json!({"role": "product_discovery", "dispensary_id": 7})).unwrap();
        assert_eq!((asked.priority, asked.max_retries), (10, None));
    }
}
