//! Requests for many tasks at once: a day's crawls, one state's stores, a platform's discovery; and their
//! results.
//!
//! Checks that need no database are here.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::checks::{BadField, bad, check_day, check_priority, within};
use super::task_requests::TaskRequest;
use domain::store::Platform;
use domain::store::state_code::StateCode;
use domain::task::role::{RESYNC, Role, names_and_resync_or_null};

const DEFAULT_BATCHES: i32 = 6;
const DEFAULT_THRESHOLD_MINUTES: i32 = 10;
/// One day.
const MAX_THRESHOLD_MINUTES: i64 = 24 * 60;
/// Priority of work on demand.
const DISCOVERY_PRIORITY: i64 = 10;

/// The crawls of a day: its stores in batches over the hours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResyncRequest {
    #[schema(minimum = 1, maximum = 24)]
    pub batches_per_day: Option<i64>,
    /// None: today, in UTC.
    pub date: Option<NaiveDate>,
    /// Only the stores of this state.
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$")]
    pub state_code: Option<StateCode>,
}

/// Tasks that a [`ResyncRequest`] created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resync {
    pub count: i32,
    pub first_slot: Option<DateTime<Utc>>,
    pub last_slot: Option<DateTime<Utc>>,
    /// Stores that have such a task already.
    pub skipped: i32,
}

/// A task for every crawlable store of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StateRequest {
    #[schema(value_type = String, pattern = "^[A-Za-z]{2}$")]
    pub state_code: StateCode,
    /// None, or the old name `product_resync`: `payload_fetch`.
    #[serde(default)]
    #[schema(schema_with = names_and_resync_or_null)]
    pub role: Option<String>,
    #[serde(default)]
    #[schema(minimum = -1000, maximum = 1000)]
    pub priority: Option<i64>,
}

/// Tasks that a [`StateRequest`] created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateTasks {
    pub count: i32,
    /// Stores that have such a task already.
    pub skipped: i32,
    /// Stores whose waiting task is as urgent as this request now.
    #[serde(default)]
    pub raised: i32,
}

/// A discovery of a platform's stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscoveryRequest {
    #[schema(value_type = Platform)]
    pub platform: String,
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$")]
    pub state_code: Option<StateCode>,
}

/// Tasks whose lease has run out, or whose last heartbeat is older than this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecoveryRequest {
    #[schema(minimum = 1, maximum = 1440)]
    pub threshold_minutes: Option<i64>,
}

impl ResyncRequest {
    pub fn batches(&self) -> Result<i32, BadField> {
        Ok(within("batches_per_day", self.batches_per_day, 1..=24)?.unwrap_or(DEFAULT_BATCHES))
    }

    pub fn check(&self, now: DateTime<Utc>) -> Result<(), BadField> {
        self.batches()?;
        self.date.map_or(Ok(()), |date| check_day("date", date, now))
    }
}

impl StateRequest {
    /// Checks the request; returns the role and the priority of its tasks.
    pub fn check(&self) -> Result<(Role, i32), BadField> {
        let role = match self.role.as_deref() {
            None | Some(RESYNC) => Role::PayloadFetch,
            Some(name) => name.parse().map_err(|unknown| bad("role", unknown))?,
        };
        if !role.per_store() {
            return Err(bad("role", format!("{role} tasks have no store")));
        }
        Ok((role, check_priority(self.priority)?.unwrap_or(role.default_priority())))
    }
}

impl From<DiscoveryRequest> for TaskRequest {
    fn from(request: DiscoveryRequest) -> Self {
        TaskRequest {
            role: Role::StoreDiscovery.name().to_owned(),
            platform: Some(request.platform),
            priority: Some(DISCOVERY_PRIORITY),
            payload: request.state_code.map_or(json!({}), |code| json!({ "state_code": code })),
            ..TaskRequest::default()
        }
    }
}

impl RecoveryRequest {
    pub fn minutes(&self) -> Result<i32, BadField> {
        let minutes = within("threshold_minutes", self.threshold_minutes, 1..=MAX_THRESHOLD_MINUTES)?;
        Ok(minutes.unwrap_or(DEFAULT_THRESHOLD_MINUTES))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    fn now() -> DateTime<Utc> {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    #[rstest]
    #[case::batches(json!({"batches_per_day": 25}), "batches_per_day")]
    #[case::no_batches(json!({"batches_per_day": 0}), "batches_per_day")]
    #[case::date(json!({"date": "+12000-01-01"}), "date")]
    #[case::next_year(json!({"date": "2027-01-04"}), "date")]
    #[case::before_time(json!({"date": "1969-12-31"}), "date")]
    fn a_wrong_field_of_a_resync_is_named(#[case] body: Value, #[case] field: &str) {
        let request: ResyncRequest = serde_json::from_value(body).unwrap();
        assert_eq!(request.check(now()).unwrap_err().field, field);
    }

    #[test]
    fn a_day_within_a_year_is_taken() {
        for date in ["1970-01-01", "2026-01-01", "2027-01-02"] {
            let request: ResyncRequest = serde_json::from_value(json!({"date": date})).unwrap();
            assert_eq!(request.check(now()), Ok(()), "{date}");
        }
    }

    #[rstest]
    #[case::role(json!({"state_code": "AZ", "role": "payload_fetsch"}), "role")]
    #[case::a_role_without_stores(json!({"state_code": "AZ", "role": "analytics_refresh"}), "role")]
    #[case::priority(json!({"state_code": "AZ", "priority": 5000}), "priority")]
    fn a_wrong_field_of_a_states_request_is_named(#[case] body: Value, #[case] field: &str) {
        let request: StateRequest = serde_json::from_value(body).unwrap();
        assert_eq!(request.check().unwrap_err().field, field);
    }

    #[rstest]
    #[case::the_default(json!({"state_code": "AZ"}), Role::PayloadFetch, 0)]
    #[case::the_old_name(json!({"state_code": "AZ", "role": "product_resync", "priority": 20}), Role::PayloadFetch, 20)]
    #[case::another(json!({"state_code": "AZ", "role": "product_discovery"}), Role::ProductDiscovery, 10)]
    fn the_tasks_of_a_state_have_a_role_and_a_priority(#[case] body: Value, #[case] role: Role, #[case] priority: i32) {
        let request: StateRequest = serde_json::from_value(body).unwrap();
        assert_eq!(request.check(), Ok((role, priority)));
    }

    #[rstest]
    #[case::default(json!({}), Ok(10))]
    #[case::given(json!({"threshold_minutes": 5}), Ok(5))]
    #[case::none(json!({"threshold_minutes": 0}), Err("threshold_minutes"))]
    fn a_recovery_waits_for_minutes(#[case] body: Value, #[case] minutes: Result<i32, &str>) {
        let request: RecoveryRequest = serde_json::from_value(body).unwrap();
        assert_eq!(request.minutes().map_err(|bad| bad.field), minutes);
    }
}
