//! `drover stores crawl`: crawls stores now, before what schedules made.

use crate::cli::store_name::Stores;
use crate::cli::{ApiClient, ClientError, Env, ExitCode, each, enqueue};
use contract::task_requests::{RequestedTask, TaskRequest};
use domain::store::StoreId;
use domain::task::role::Role;

/// Priority of tasks that a person requests, as in the dashboard.
const BY_HAND: i64 = 20;

pub async fn run(stores: Stores, env: &Env) -> anyhow::Result<ExitCode> {
    each(&stores.ids(&env.api().await?).await?, env, crawl, enqueue::text).await
}

async fn crawl(api: &ApiClient, store: StoreId) -> Result<RequestedTask, ClientError> {
    let request = TaskRequest {
        role: Role::PayloadFetch.name().to_owned(),
        dispensary_id: Some(store),
        priority: Some(BY_HAND),
        ..TaskRequest::default()
    };
    api.post("/api/tasks", &request).await
}
