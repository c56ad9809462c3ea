//! Credentials for the API.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::access::{AccessRole, TokenId};

/// A token without its text, which is shown once, when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiToken {
    pub id: TokenId,
    pub name: String,
    pub role: AccessRole,
    pub created_at: DateTime<Utc>,
    pub last_used_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenList {
    pub tokens: Vec<ApiToken>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Unique; the audit shows it.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$"
    )]
    pub name: String,
    pub role: AccessRole,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct MadeToken {
    pub id: TokenId,
    pub name: String,
    pub role: AccessRole,
    /// Shown once. Null if a request with an `Idempotency-Key` is repeated.
    pub token: Option<String>,
}
