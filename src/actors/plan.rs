//! `Plan`: the parts that a process runs: values, made before anything is started. It must not know how it is
//! run.

use domain::task::role::RoleSet;

/// One pod to be started.
#[derive(Clone, Debug)]
pub struct PodPlan {
    pub name: String,
    pub roles: RoleSet,
    /// Number of workers that it starts with.
    pub workers: usize,
}

/// The parts that this process runs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub schedules: bool,
    pub pods: Vec<PodPlan>,
    pub follows: Follows,
}

/// The numbers of the topology that a running process takes over when its configuration changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follows {
    #[default]
    Nothing,
    Workers,
    PodsAndWorkers,
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

impl PodPlan {
    /// `number`: of the worker in its pod, from 1.
    pub fn worker(&self, number: usize, id: String) -> WorkerPlan {
        let friendly_name = format!("{}-{number}", self.name);
        WorkerPlan { id, friendly_name, pod: self.name.clone(), roles: self.roles.clone() }
    }
}
