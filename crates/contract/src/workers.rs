//! Workers: the registry, the reports of external ones, and orders to them.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use strum::VariantArray;
use utoipa::ToSchema;

use super::checks::{BadField, bad, check_text};
use domain::task::TaskId;
use domain::task::role::{Family, Role, RoleSet};
use domain::worker::{Resources, WorkerCommand, WorkerDocument, WorkerStatus};

const MAX_SLOTS: usize = 1_000;
/// Maximum of the database's column.
const MAX_HEARTBEAT_SECONDS: u32 = 86_400;

/// A worker as it describes itself. `current_task_id` and `active_task_count` are derived from `current_task_ids`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerReport {
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub worker_id: String,
    #[serde(default)]
    pub current_task_id: Option<TaskId>,
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub current_task_ids: Vec<TaskId>,
    #[serde(default, rename = "active_task_count")]
    _active_task_count: Option<i32>,
    #[serde(default = "one_slot")]
    #[schema(minimum = 1, maximum = 1000)]
    pub max_concurrent_tasks: usize,
    #[serde(default = "active")]
    pub status: WorkerStatus,
    #[serde(default, deserialize_with = "resources")]
    pub resources: Resources,
    /// The worker's id by default.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub friendly_name: Option<String>,
    /// The worker's id by default.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub pod: Option<String>,
    /// Roles that it claims, as in `WORKER_ROLE`; without it, every crawl role.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub role: Option<RoleSet>,
    /// Seconds between its heartbeats.
    #[serde(default = "usual_heartbeat")]
    #[schema(minimum = 1, maximum = 86400)]
    pub heartbeat_seconds: u32,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HeartbeatAnswer {
    pub worker_id: String,
    /// Commands to carry out in this order; each is returned once.
    pub commands: Vec<WorkerCommand>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LeavingWorker {
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub worker_id: String,
}

/// A command that the worker has not carried out yet.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkerOrder {
    pub worker_id: String,
    pub command: WorkerCommand,
}

/// The workers' StatefulSet in Kubernetes.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkerReplicas {
    pub namespace: String,
    pub statefulset: String,
    /// Desired number of pods.
    pub replicas: u32,
    /// Actual number of pods.
    pub current_replicas: u32,
    pub ready_replicas: u32,
    /// Bounds of the number that may be requested.
    pub min_replicas: u32,
    pub max_replicas: u32,
    /// The kind of the autoscaler that also sets `replicas`, if there is one: HorizontalPodAutoscaler or KEDA.
    pub autoscaler: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScaleRequest {
    /// Desired number of pods, within the bounds of the configuration.
    pub replicas: u32,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Registry {
    pub workers: Vec<WorkerDocument>,
    /// Whether `/api/workers/k8s/…` has a cluster to ask.
    #[serde(default)]
    pub in_kubernetes: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    pub role: Role,
    pub family: Family,
    /// The title, for display.
    pub name: String,
    pub description: String,
    /// The module that runs it.
    pub handler: String,
    /// A run that takes longer is a failed attempt.
    pub time_limit_seconds: u64,
    /// The role of the tasks that a completed one makes; null if it makes none, or some of its own choice.
    pub follow_up: Option<Role>,
    /// Source of its tasks, for display, such as "after a fetch"; null if a schedule makes them.
    pub origin: Option<String>,
}

impl WorkerReport {
    /// Returns the first fault.
    pub fn check(&self) -> Result<(), BadField> {
        check_text("worker_id", Some(&self.worker_id))?;
        check_text("friendly_name", self.friendly_name.as_deref())?;
        check_text("pod", self.pod.as_deref())?;
        check_range("max_concurrent_tasks", self.max_concurrent_tasks, MAX_SLOTS)?;
        check_range("heartbeat_seconds", self.heartbeat_seconds as usize, MAX_HEARTBEAT_SECONDS as usize)?;
        match self.current_task_ids.len() > MAX_SLOTS {
            true => Err(bad("current_task_ids", format!("holds more than {MAX_SLOTS} ids"))),
            false => Ok(()),
        }
    }

    /// Time to its next heartbeat.
    pub fn every(&self) -> Duration {
        Duration::from_secs(self.heartbeat_seconds.into())
    }

    /// A heartbeat may leave out the names and roles of its registration, `known`.
    pub fn into_document(self, known: Option<&WorkerDocument>) -> WorkerDocument {
        let name = |given: Option<String>, of: fn(&WorkerDocument) -> &String| {
            given.unwrap_or_else(|| known.map_or(&self.worker_id, of).clone())
        };
        let (role, roles) = match (&self.role, known) {
            (None, Some(known)) => (known.role.clone(), known.roles.clone()),
            (given, _) => labelled(given.as_ref().unwrap_or(&RoleSet::any())),
        };
        let current_task_ids = match self.current_task_ids {
            ids if ids.is_empty() => self.current_task_id.into_iter().collect(),
            ids => ids,
        };
        WorkerDocument {
            current_task_id: current_task_ids.first().copied(),
            active_task_count: current_task_ids.len(),
            current_task_ids,
            max_concurrent_tasks: self.max_concurrent_tasks,
            status: self.status,
            resources: self.resources,
            friendly_name: name(self.friendly_name, |known| &known.friendly_name),
            pod: name(self.pod, |known| &known.pod),
            role,
            roles,
            worker_id: self.worker_id,
            last_heartbeat_at: None,
            started_at: None,
        }
    }
}

impl RoleView {
    /// All roles, in their order.
    pub fn all() -> Vec<RoleView> {
        Role::VARIANTS.iter().copied().map(RoleView::from).collect()
    }
}

impl From<Role> for RoleView {
    fn from(role: Role) -> Self {
        let kind = role.kind();
        RoleView {
            role,
            family: kind.family,
            name: kind.title.to_owned(),
            description: kind.description.to_owned(),
            handler: role.handler().to_owned(),
            time_limit_seconds: kind.time_limit.as_secs(),
            follow_up: kind.follow_up,
            origin: kind.origin.map(str::to_owned),
        }
    }
}

fn labelled(roles: &RoleSet) -> (String, Vec<String>) {
    (roles.label(), roles.roles().iter().map(|role| role.name().to_owned()).collect())
}

fn check_range(field: &'static str, value: usize, max: usize) -> Result<(), BadField> {
    match (1..=max).contains(&value) {
        true => Ok(()),
        false => Err(bad(field, format!("must be 1 to {max}"))),
    }
}

/// Reads as strictly as the rest of a body: [`Resources`] itself skips fields that later versions write to the table.
fn resources<'de, D: Deserializer<'de>>(input: D) -> Result<Resources, D::Error> {
    let fields = Map::deserialize(input)?;
    let known = serde_json::to_value(Resources::default()).map_err(D::Error::custom)?;
    if let Some(unknown) = fields.keys().find(|field| known.get(field.as_str()).is_none()) {
        return Err(D::Error::custom(format!("unknown field `{unknown}`")));
    }
    let is_too_large = |value: &Value| value.as_u64().is_some_and(|number| i64::try_from(number).is_err());
    if let Some((field, _)) = fields.iter().find(|(_, value)| is_too_large(value)) {
        return Err(D::Error::custom(format!("`{field}` is out of range")));
    }
    serde_json::from_value(Value::Object(fields)).map_err(D::Error::custom)
}

fn one_slot() -> usize {
    1
}

fn active() -> WorkerStatus {
    WorkerStatus::Active
}

fn usual_heartbeat() -> u32 {
    30
}
