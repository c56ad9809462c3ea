//! The bodies of tasks, as the queue asks for them.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Context, TaskServices, run};
use db::tasks::ClaimedTask;
use domain::task::role::Role;
use queue::{Body, HandOver, Outcome, TaskError, Work};

/// One run of a task's handler.
struct HandlerRun {
    context: Context,
    role: Role,
    payload: Value,
}

impl Work for TaskServices {
    fn body(self: Arc<Self>, task: &ClaimedTask, stop: CancellationToken) -> Arc<dyn Body> {
        let context = Context::new(self, task.lease.id, task.dispensary_id, task.platform.clone());
        let context = context.with_account(task.account.clone()).with_lease(task.lease.clone()).with_stop(stop);
        Arc::new(HandlerRun { context, role: task.role, payload: task.payload.clone() })
    }
}

impl Body for HandlerRun {
    fn run(self: Arc<Self>, hand_over: Option<HandOver>) -> BoxFuture<'static, Result<Outcome, TaskError>> {
        Box::pin(async move { run(&self.context, self.role, &self.payload, hand_over).await })
    }

    fn detail(&self) -> Value {
        self.context.run_trace().detail()
    }
}
