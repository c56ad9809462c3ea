//! `TaskChange`: a requested change of a pending task, and all checks of it that need no database.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checks::{BadField, check_priority, check_time, present};

/// The fields of `PUT /api/tasks/{id}`, as received; absent fields keep their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1)]
pub struct TaskChange {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = i64, required = false, minimum = -1000, maximum = 1000)]
    pub priority: Option<i64>,
    /// `Some(None)`, null in JSON: at once.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<DateTime<Utc>>)]
    pub scheduled_for: Option<Option<DateTime<Utc>>>,
}

impl TaskChange {
    /// Returns the first fault.
    pub fn check(&self, now: DateTime<Utc>) -> Result<(), BadField> {
        if *self == TaskChange::default() {
            let fault = "missing: give a priority, a scheduled_for or both".to_owned();
            return Err(BadField { field: "priority", fault });
        }
        check_priority(self.priority)?;
        check_time(self.scheduled_for.flatten(), now)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn now() -> DateTime<Utc> {
        "2025-01-01T12:00:00Z".parse().unwrap()
    }

    #[rstest]
    #[case::priority(json!({"priority": 20}))]
    #[case::time(json!({"scheduled_for": "2025-01-10T08:00:00Z"}))]
    #[case::at_once(json!({"scheduled_for": null}))]
    #[case::both(json!({"priority": -5, "scheduled_for": null}))]
    fn a_change_is_read_and_written_as_it_came(#[case] body: Value) {
        let change: TaskChange = serde_json::from_value(body.clone()).unwrap();
        change.check(now()).unwrap();
        assert_eq!(serde_json::to_value(change).unwrap(), body);
    }

    #[rstest]
    #[case::nothing(json!({}), "priority")]
    #[case::priority(json!({"priority": 1001}), "priority")]
    #[case::a_typing_error(json!({"scheduled_for": "2099-01-01T00:00:00Z"}), "scheduled_for")]
    #[case::far_future(json!({"scheduled_for": "+12000-01-01T00:00:00Z"}), "scheduled_for")]
    fn what_is_wrong_is_named(#[case] body: Value, #[case] field: &str) {
        let change: TaskChange = serde_json::from_value(body).unwrap();
        assert_eq!(change.check(now()).unwrap_err().field, field);
    }
}
