//! Answers to probes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::proxy::PoolState;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Liveness {
    pub status: LivenessStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LivenessStatus {
    Ok,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Readiness {
    pub status: ReadinessStatus,
    pub parts: ReadinessChecks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadinessStatus {
    Ready,
    Degraded,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReadinessChecks {
    pub database: Check,
    pub migrations: Check,
    pub proxies: Check,
    pub actors: Check,
    /// Names the pauses in force, which never count as a fault.
    pub pauses: Check,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Check {
    pub state: CheckState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// State of the proxies; absent in other checks.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub pool: Option<PoolState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Ok,
    /// This process does not use it.
    Unused,
    Degraded,
}

impl Check {
    pub fn ok() -> Self {
        Check { state: CheckState::Ok, detail: None, pool: None }
    }

    pub fn degraded(detail: impl ToString) -> Self {
        Check { state: CheckState::Degraded, detail: Some(detail.to_string()), pool: None }
    }
}
