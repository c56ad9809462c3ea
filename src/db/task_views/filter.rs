//! `TaskFilter`: which tasks a list or a bulk operation is about, and its parameters as the statements of this folder number them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::{ToSql, Type};

use crate::domain::role::RoleSet;
use crate::domain::shown_status::ShownStatus;
use crate::domain::store::{Platform, StoreId};
use crate::domain::task::{Status, TaskId};

/// A field that is None does not filter. As JSON it has the names of the parameters of `GET /api/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ShownStatus>,
    #[serde(rename = "role", skip_serializing_if = "Option::is_none")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_after: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    pub ids: Option<Vec<TaskId>>,
    /// Ids below this one: where the last page ended.
    #[serde(skip)]
    pub below: Option<TaskId>,
}

/// A filter's values as the database takes them.
pub(in crate::db) struct FilterValues<'a> {
    filter: &'a TaskFilter,
    statuses: Option<Vec<&'static str>>,
    lease_expired: Option<bool>,
    roles: Option<Vec<&'static str>>,
    platform: Option<&'static str>,
}

pub(in crate::db) type TypedParam<'a> = (&'a (dyn ToSql + Sync), Type);

impl TaskFilter {
    /// The stored statuses that it admits; None: all.
    pub(in crate::db) fn statuses(&self) -> Option<&'static [Status]> {
        self.status.map(ShownStatus::stored)
    }

    pub(in crate::db) fn values(&self) -> FilterValues<'_> {
        self.values_within(self.statuses())
    }

    /// Of tasks with one of these stored statuses.
    pub(in crate::db) fn values_within(&self, statuses: Option<&[Status]>) -> FilterValues<'_> {
        FilterValues {
            filter: self,
            statuses: statuses.map(|statuses| statuses.iter().map(|status| status.name()).collect()),
            lease_expired: self.status.and_then(ShownStatus::lease_expired),
            roles: self.roles.as_ref().map(|set| set.roles().iter().map(|role| role.name()).collect()),
            platform: self.platform.map(Platform::name),
        }
    }
}

impl FilterValues<'_> {
    /// `$1` to `$15`, and then one more.
    pub(in crate::db) fn with<'a>(&'a self, last: TypedParam<'a>) -> [TypedParam<'a>; 16] {
        let filter = self.filter;
        [
            (&self.statuses, Type::TEXT_ARRAY),
            (&self.lease_expired, Type::BOOL),
            (&self.roles, Type::TEXT_ARRAY),
            (&filter.dispensary_id, Type::INT8),
            (&self.platform, Type::TEXT),
            (&filter.worker_id, Type::TEXT),
            (&filter.q, Type::TEXT),
            (&filter.created_after, Type::TIMESTAMPTZ),
            (&filter.created_before, Type::TIMESTAMPTZ),
            (&filter.below, Type::INT8),
            (&filter.ids, Type::INT8_ARRAY),
            (&filter.schedule_id, Type::INT8),
            (&filter.parent_task_id, Type::INT8),
            (&filter.error, Type::TEXT),
            (&filter.min_retries, Type::INT4),
            last,
        ]
    }
}
