//! `TaskFilter`: which tasks a list or a bulk operation is about, and the values of the statements of this folder.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use utoipa::{IntoParams, ToSchema};

use crate::{Client, DbError};
use domain::role::RoleSet;
use domain::shown_status::ShownStatus;
use domain::span;
use domain::store::{Platform, StoreId};
use domain::task::{Status, TaskId};

/// A field that is None does not filter. As JSON it has the names of the parameters of `GET /api/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TaskFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ShownStatus>,
    /// One role, several with commas, `any` for all crawl roles, or `media`.
    #[serde(rename = "role", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "payload_fetch")]
    #[param(value_type = Option<String>, example = "payload_fetch")]
    pub roles: Option<RoleSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispensary_id: Option<StoreId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    /// How an id, a worker's id or a store's slug begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// Made then or later.
    #[serde(deserialize_with = "span::optional_beginning", skip_serializing_if = "Option::is_none")]
    #[param(schema_with = span::schema)]
    pub created_after: Option<DateTime<Utc>>,
    #[serde(deserialize_with = "span::optional_beginning", skip_serializing_if = "Option::is_none")]
    #[param(schema_with = span::schema)]
    pub created_before: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// A part of the error's text, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Retried so often or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_retries: Option<i32>,
    /// Just these tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(ignore)]
    pub ids: Option<Vec<TaskId>>,
    /// Ids below this one: where the last page ended.
    #[serde(skip)]
    pub below: Option<TaskId>,
}

/// A filter's values as the database takes them.
#[derive(Clone)]
pub(crate) struct FilterValues<'a> {
    pub filter: &'a TaskFilter,
    pub statuses: Option<Vec<&'static str>>,
    pub lease_expired: Option<bool>,
    /// By equality it finds them in order.
    pub role: Option<&'static str>,
    pub roles: Option<Vec<&'static str>>,
    pub platform: Option<&'static str>,
    pub below: Option<TaskId>,
    pub from: Option<TaskId>,
    pub worker_pattern: Option<String>,
    pub stores: Option<Vec<StoreId>>,
    /// By trigrams it finds what `filter.error` finds.
    pub error_pattern: Option<String>,
    pub q: Option<&'a str>,
}

pub(crate) type TypedParam<'a> = (&'a (dyn ToSql + Sync), Type);

/// A value, and the name that stands for it in the statements, as `{name}`.
type NamedParam<'a> = (&'static str, &'a (dyn ToSql + Sync), Type);

/// A statement of this folder, whose text has `{filters}` where the conditions belong.
pub(crate) struct Filtered(LazyLock<String>);

pub(crate) static LIST: Filtered =
    Filtered(LazyLock::new(|| numbered(include_str!("../sql/task_views/list.sql"), "limit")));
pub(crate) static MATCHING: Filtered =
    Filtered(LazyLock::new(|| numbered(include_str!("../sql/task_views/matching.sql"), "limit")));
pub(crate) static COUNT_MATCHING: Filtered =
    Filtered(LazyLock::new(|| numbered(include_str!("../sql/task_views/count_matching.sql"), "eligible")));

pub(crate) static GET: LazyLock<String> = LazyLock::new(|| whole(include_str!("../sql/task_views/get.sql")));

fn whole(statement: &str) -> String {
    let statement = statement.replace("{columns}", include_str!("../sql/task_views/columns.sql"));
    statement.replace("{filters}", include_str!("../sql/task_views/filters.sql"))
}

/// The whole statement with numbers for the names of its values: those of the filter, and then `last`.
fn numbered(statement: &str, last: &'static str) -> String {
    let filter = TaskFilter::default();
    let values = filter.values();
    let names = values.named().into_iter().map(|(name, ..)| name).chain([last]);
    let number =
        |text: String, (name, number): (&str, usize)| text.replace(&format!("{{{name}}}"), &format!("${number}"));
    names.zip(1..).fold(whole(statement), number)
}

impl TaskFilter {
    /// Whether one of its texts is empty, so that it finds more than was meant.
    pub(crate) fn has_empty_text(&self) -> bool {
        [&self.worker_id, &self.q, &self.error].into_iter().flatten().any(String::is_empty)
    }

    /// The stored statuses that it admits; None: all.
    pub(crate) fn statuses(&self) -> Option<&'static [Status]> {
        self.status.map(ShownStatus::stored)
    }

    pub(crate) fn values(&self) -> FilterValues<'_> {
        self.values_within(self.statuses())
    }

    /// Of tasks with one of these stored statuses.
    pub(crate) fn values_within(&self, statuses: Option<&[Status]>) -> FilterValues<'_> {
        let roles: Option<Vec<&str>> =
            self.roles.as_ref().map(|set| set.roles().iter().map(|role| role.name()).collect());
        let role = roles.as_deref().and_then(|roles| if let [only] = roles { Some(*only) } else { None });
        FilterValues {
            filter: self,
            statuses: statuses.map(|statuses| statuses.iter().map(|status| status.name()).collect()),
            lease_expired: self.status.and_then(ShownStatus::lease_expired),
            role,
            roles: roles.filter(|_| role.is_none()),
            platform: self.platform.map(Platform::name),
            below: self.below,
            from: None,
            worker_pattern: None,
            stores: None,
            error_pattern: None,
            q: self.q.as_deref(),
        }
    }
}

impl FilterValues<'_> {
    /// A new filter is one more of these, and a condition in `filters.sql`.
    fn named(&self) -> Vec<NamedParam<'_>> {
        let filter = self.filter;
        let named: &[NamedParam<'_>] = &[
            ("statuses", &self.statuses, Type::TEXT_ARRAY),
            ("lease_expired", &self.lease_expired, Type::BOOL),
            ("role", &self.role, Type::TEXT),
            ("roles", &self.roles, Type::TEXT_ARRAY),
            ("dispensary_id", &filter.dispensary_id, Type::INT8),
            ("platform", &self.platform, Type::TEXT),
            ("worker_id", &filter.worker_id, Type::TEXT),
            ("created_after", &filter.created_after, Type::TIMESTAMPTZ),
            ("created_before", &filter.created_before, Type::TIMESTAMPTZ),
            ("below", &self.below, Type::INT8),
            ("ids", &filter.ids, Type::INT8_ARRAY),
            ("schedule_id", &filter.schedule_id, Type::INT8),
            ("parent_task_id", &filter.parent_task_id, Type::INT8),
            ("error", &filter.error, Type::TEXT),
            ("min_retries", &filter.min_retries, Type::INT4),
            ("from", &self.from, Type::INT8),
            ("worker_pattern", &self.worker_pattern, Type::TEXT),
            ("stores", &self.stores, Type::INT8_ARRAY),
            ("q", &self.q, Type::TEXT),
            ("error_pattern", &self.error_pattern, Type::TEXT),
        ];
        named.to_vec()
    }
}

impl Filtered {
    /// Runs it, planned for these values and the last one.
    pub async fn rows(
        &self,
        client: &Client,
        values: &FilterValues<'_>,
        last: TypedParam<'_>,
    ) -> Result<Vec<Row>, DbError> {
        let mut params: Vec<TypedParam<'_>> =
            values.named().into_iter().map(|(_, value, value_type)| (value, value_type)).collect();
        params.push(last);
        client.query_planned(&self.0, &params).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_times_of_a_body_are_those_of_a_query() {
        let filter = json!({"created_after": "2025-01-10", "created_before": null});
        let filter: TaskFilter = serde_json::from_value(filter).unwrap();
        assert_eq!(filter.created_after, span::beginning("2025-01-10T00:00:00Z"));
        assert_eq!(filter.created_before, None);
    }

    #[test]
    fn statements_and_values_have_the_same_names() {
        for statement in [&LIST, &MATCHING, &COUNT_MATCHING] {
            assert!(!statement.0.contains('{'), "a name has no value: {}", *statement.0);
        }
        let filters = include_str!("../sql/task_views/filters.sql");
        for (name, ..) in TaskFilter::default().values().named() {
            assert!(filters.contains(&format!("({{{name}}}::")), "no condition begins with {name} and its type");
        }
    }
}
