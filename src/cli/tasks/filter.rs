//! Flags by which commands choose tasks, the same as the parameters of `GET /api/tasks`.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::cli::store_name::{self, StoreName};
use crate::cli::{ApiClient, schedules, values, with_query};
use contract::tasks::TaskFilter;
use domain::store::Platform;
use domain::task::TaskId;
use domain::task::role::RoleSet;
use domain::task::shown_status::ShownStatus;

/// Flags by which tasks are chosen.
#[derive(Debug, clap::Args)]
pub struct Filter {
    /// Only tasks of the store with this id, slug or name
    #[arg(long, alias = "dispensary", value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Only tasks created by the schedule with this name or id
    #[arg(long, value_name = "SCHEDULE", allow_negative_numbers = true)]
    schedule: Option<String>,
    #[command(flatten)]
    values: Values,
}

impl Filter {
    /// Whether it chooses all tasks.
    pub fn is_empty(&self) -> bool {
        let are_named = self.store.is_some() || self.schedule.is_some();
        !are_named && TaskFilter::from(self.values.clone()) == TaskFilter::default()
    }

    /// The filter of the API, which has ids where people give names.
    pub async fn resolve(self, api: &ApiClient) -> anyhow::Result<TaskFilter> {
        let schedule_id = match &self.schedule {
            Some(name) => Some(schedules::find(api, name).await?.id),
            None => None,
        };
        let dispensary_id = store_name::id_of(self.store.as_ref(), api).await?;
        Ok(TaskFilter { dispensary_id, schedule_id, ..TaskFilter::from(self.values) })
    }
}

/// Makes [`Values`] from its flags, each with the field of [`TaskFilter`] that it sets.
macro_rules! flags {
    ($($(#[$($about:tt)*])* $flag:ident: $value:ty => $field:ident,)+) => {
        #[derive(Clone, Debug, clap::Args)]
        struct Values {
            $($(#[$($about)*])* $flag: Option<$value>,)+
        }

        impl From<Values> for TaskFilter {
            fn from(values: Values) -> Self {
                TaskFilter { $($field: values.$flag,)+ ..TaskFilter::default() }
            }
        }

        /// Fields of the request and the flags that set them.
        pub const FLAGS: &[(&str, &str)] = &[
            ("dispensary_id", "--store"),
            ("schedule_id", "--schedule"),
            $((stringify!($field), concat!("--", stringify!($flag)))),+
        ];
    };
}

flags! {
    /// Only tasks with this status: pending, claimed, running, completed, failed, cancelled, or stale (its lease ran out)
    #[arg(long)]
    status: ShownStatus => status,
    /// Only tasks of this role, or of several separated by commas
    #[arg(long)]
    role: RoleSet => roles,
    /// Only tasks of this platform
    #[arg(long)]
    platform: Platform => platform,
    /// Only tasks held now or before by the worker with this id
    #[arg(long, value_name = "ID")]
    worker: String => worker_id,
    /// Only tasks created by the task with this id
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    parent: TaskId => parent_task_id,
    /// Only tasks with this text in their error, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    error: String => error,
    /// Only tasks with at least this number of retries
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(0..=i32::MAX))]
    min_retries: i32 => min_retries,
    /// Only tasks created from this day (UTC) or time on
    #[arg(long, value_name = "TIME", value_parser = values::since)]
    since: DateTime<Utc> => created_after,
    /// Only tasks created up to the end of this day (UTC), or before this time
    #[arg(long, value_name = "TIME", value_parser = values::until)]
    until: DateTime<Utc> => created_before,
}

/// The list of these tasks; its parameters have the names of the filter's fields.
pub fn list_path(filter: &TaskFilter, limit: i64) -> serde_json::Result<String> {
    let mut fields = serde_json::to_value(filter)?;
    fields["limit"] = limit.into();
    let fields = fields.as_object().into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok(with_query("/api/tasks", fields.map(|(name, value)| (name, Some(text(value))))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_becomes_the_parameters_of_a_list() {
        let filter = TaskFilter {
            roles: Some("product_resync".parse().unwrap()),
            error: Some("503 at x&y".to_owned()),
            dispensary_id: Some(7),
            ..TaskFilter::default()
        };
        let expected = "/api/tasks?dispensary_id=7&error=503+at+x%26y&limit=5&role=product_discovery%2Cpayload_fetch%2Cproduct_refresh";
        assert_eq!(list_path(&filter, 5).unwrap(), expected);
        assert_eq!(list_path(&TaskFilter::default(), 5).unwrap(), "/api/tasks?limit=5");
    }
}
