//! [`FilterValues`]: the values of a [`TaskFilter`] for the statements of this folder.

use crate::statements::named_values;
use contract::age_sort::AgeSort;
use contract::tasks::TaskFilter;
use domain::store::{Platform, StoreId};
use domain::task::shown_status::ShownStatus;
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

impl<'a> FilterValues<'a> {
    pub fn of(filter: &'a TaskFilter) -> FilterValues<'a> {
        FilterValues::within(filter, filter.statuses())
    }

    /// Same as [`FilterValues::of`], for tasks with one of these stored statuses.
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
}

// a new filter is one more line here, and a condition in `filters.sql`
named_values! {
    values: FilterValues<'_>;
    statuses = values.statuses,
    lease_expired = values.lease_expired,
    role = values.role,
    roles = values.roles,
    dispensary_id = values.filter.dispensary_id,
    platform = values.platform,
    worker_id = values.filter.worker_id,
    created_after = values.filter.created_after,
    created_before = values.filter.created_before,
    below = values.below,
    ids = values.filter.ids,
    schedule_id = values.filter.schedule_id,
    parent_task_id = values.filter.parent_task_id,
    error = values.filter.error,
    min_retries = values.filter.min_retries,
    from = values.from,
    worker_pattern = values.worker_pattern,
    stores = values.stores,
    q = values.q,
    error_pattern = values.error_pattern,
}

#[cfg(test)]
mod tests {
    use super::FilterValues;
    use crate::statements::NamedValues;
    use crate::statements::sql;

    #[test]
    fn each_value_has_a_condition() {
        let filters = sql!("tasks/views/filters.sql");
        for name in FilterValues::NAMES {
            assert!(filters.contains(&format!("(${name}::")), "no condition begins with {name} and its type");
        }
    }
}
