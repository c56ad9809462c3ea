//! `drover stores crawl`: crawls stores now, before what schedules made.

use crate::cli::client::{ApiClient, ClientError};
use crate::cli::each::each;
use crate::cli::enqueue;
use crate::cli::store_name::StoreName;
use crate::cli::{Env, ExitCode};
use contract::task_requests::{RequestedTask, TaskRequest};
use domain::role::Role;
use domain::store::StoreId;

/// Priority of tasks that a person requests, as in the dashboard.
const BY_HAND: i64 = 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ids, slugs or names
    #[arg(required = true, value_name = "STORE")]
    stores: Vec<StoreName>,
}

/// All names are looked up before the first task is made: a wrong one makes none.
pub async fn run(Args { stores }: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let mut ids = Vec::new();
    for store in &stores {
        ids.push(store.id(&api).await?);
    }
    each(&ids, env, crawl, enqueue::text).await
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
