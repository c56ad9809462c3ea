//! [`FilterValues`]: the values of a [`TaskFilter`] for the statements of this folder.

use std::sync::LazyLock;

use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::age_order::ordered;
use crate::client::TypedParam;
use crate::{Client, DbError};
use contract::age_sort::AgeSort;
use contract::tasks::TaskFilter;
use domain::shown_status::ShownStatus;
use domain::store::{Platform, StoreId};
use domain::task::{Status, TaskId};

/// A filter's values in the types of the database.
#[derive(Clone)]
pub(crate) struct FilterValues<'a> {
    pub filter: &'a TaskFilter,
    pub statuses: Option<Vec<&'static str>>,
    pub lease_expired: Option<bool>,
    /// An equality, so that an index returns the tasks in order.
    pub role: Option<&'static str>,
    pub roles: Option<Vec<&'static str>>,
    pub platform: Option<&'static str>,
    pub below: Option<TaskId>,
    pub from: Option<TaskId>,
    pub worker_pattern: Option<String>,
    pub stores: Option<Vec<StoreId>>,
    /// The pattern for trigrams that finds the same tasks as `filter.error`.
    pub error_pattern: Option<String>,
    pub q: Option<&'a str>,
}

/// A value, and its name in the statements, as `{name}`.
type NamedParam<'a> = (&'static str, &'a (dyn ToSql + Sync), Type);

/// A statement of this folder, with `{filters}` in place of the conditions.
pub(crate) struct Filtered(LazyLock<String>);

pub(crate) static NEWEST: Filtered = Filtered(LazyLock::new(|| list(AgeSort::Newest)));
pub(crate) static OLDEST: Filtered = Filtered(LazyLock::new(|| list(AgeSort::Oldest)));
pub(crate) static MATCHING: Filtered =
    Filtered(LazyLock::new(|| numbered(include_str!("../sql/task_views/matching.sql"), "limit")));
pub(crate) static COUNT_MATCHING: Filtered =
    Filtered(LazyLock::new(|| numbered(include_str!("../sql/task_views/count_matching.sql"), "eligible")));

pub(crate) static GET: LazyLock<String> = LazyLock::new(|| whole(include_str!("../sql/task_views/get.sql")));

fn list(sort: AgeSort) -> String {
    numbered(&ordered(include_str!("../sql/task_views/list.sql"), sort), "limit")
}

fn whole(statement: &str) -> String {
    let statement = statement.replace("{columns}", include_str!("../sql/task_views/columns.sql"));
    statement.replace("{filters}", include_str!("../sql/task_views/filters.sql"))
}

/// The whole statement with numbers for the names of its values: the filter's values, and then `last`.
fn numbered(statement: &str, last: &'static str) -> String {
    let filter = TaskFilter::default();
    let values = FilterValues::of(&filter);
    let names = values.named().into_iter().map(|(name, ..)| name).chain([last]);
    let number =
        |text: String, (name, number): (&str, usize)| text.replace(&format!("{{{name}}}"), &format!("${number}"));
    names.zip(1..).fold(whole(statement), number)
}

impl<'a> FilterValues<'a> {
    pub fn of(filter: &'a TaskFilter) -> FilterValues<'a> {
        FilterValues::within(filter, filter.statuses())
    }

    /// Like [`FilterValues::of`], for tasks with one of these stored statuses.
    pub fn within(filter: &'a TaskFilter, statuses: Option<&[Status]>) -> FilterValues<'a> {
        let roles: Option<Vec<&str>> =
            filter.roles.as_ref().map(|set| set.roles().iter().map(|role| role.name()).collect());
        let role = roles.as_deref().and_then(|roles| if let [only] = roles { Some(*only) } else { None });
        FilterValues {
            filter,
            statuses: statuses.map(|statuses| statuses.iter().map(|status| status.name()).collect()),
            lease_expired: filter.status.and_then(ShownStatus::lease_expired),
            role,
            roles: roles.filter(|_| role.is_none()),
            platform: filter.platform.map(Platform::name),
            below: filter.after.filter(|_| filter.sort == AgeSort::Newest),
            from: filter.after.filter(|_| filter.sort == AgeSort::Oldest).map(|after| after.saturating_add(1)),
            worker_pattern: None,
            stores: None,
            error_pattern: None,
            q: filter.q.as_deref(),
        }
    }

    /// A new filter is one more line here, and a condition in `filters.sql`.
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
    /// Runs the statement, planned for these values and the last one.
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
    use super::*;

    #[test]
    fn statements_and_values_have_the_same_names() {
        for statement in [&NEWEST, &OLDEST, &MATCHING, &COUNT_MATCHING] {
            assert!(!statement.0.contains('{'), "a name has no value: {}", *statement.0);
        }
        let filters = include_str!("../sql/task_views/filters.sql");
        for (name, ..) in FilterValues::of(&TaskFilter::default()).named() {
            assert!(filters.contains(&format!("({{{name}}}::")), "no condition begins with {name} and its type");
        }
    }
}
