//! `Plan`: the parts that a process runs: values, made before anything is started. It must not know how it is
//! run.

use domain::role::RoleSet;

/// One pod to be started.
#[derive(Clone, Debug)]
pub struct PodPlan {
    pub name: String,
    pub workers: Vec<WorkerPlan>,
}

/// The parts that this process runs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub schedules: bool,
    pub pods: Vec<PodPlan>,
}

/// One worker to be started.
#[derive(Clone, Debug)]
pub struct WorkerPlan {
    pub id: String,
    /// `Aethelgard-3`.
    pub friendly_name: String,
    pub pod: String,
    pub roles: RoleSet,
}
