//! The login of people by a token.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::workers::RoleView;
use domain::access::AccessRole;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    pub token: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Login {
    /// The token's name.
    pub name: String,
    pub role: AccessRole,
    /// Value of the header `X-CSRF-Token` for every change. Null without a login.
    pub csrf_token: Option<String>,
    /// Only in the answer to a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// The roles of tasks, for forms and filters.
    #[serde(default)]
    pub roles: Vec<RoleView>,
}
