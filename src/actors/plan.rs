//! What a process is to run: values, made before anything is started.

use crate::domain::role::RoleSet;

/// One pod to be started.
#[derive(Clone, Debug)]
pub struct PodPlan {
    pub name: String,
    pub workers: Vec<WorkerName>,
}

/// What this process runs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub schedules: bool,
    pub pods: Vec<PodPlan>,
}

/// Who a worker is.
#[derive(Clone, Debug)]
pub struct WorkerName {
    pub id: String,
    /// `Aethelgard-3`.
    pub friendly: String,
    pub pod: String,
    pub roles: RoleSet,
}
