//! `Problem`: the document of a refusal (RFC 9457).

use serde::Serialize;
use utoipa::{ToResponse, ToSchema};

use domain::task::TaskId;

/// A problem document (RFC 9457).
#[derive(Clone, Serialize, ToResponse, ToSchema)]
#[response(description = "Refused, with the reason", content_type = "application/problem+json")]
pub struct Problem {
    pub r#type: &'static str,
    pub title: &'static str,
    pub status: u16,
    pub detail: String,
    /// Code of this refusal, for programs; others may have the same status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The offending parameter or field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Each offending parameter or field with what is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// The open task that the new one would duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Same id as in the header `X-Request-Id` and in the log.
    pub request_id: String,
}

#[derive(Clone, Serialize, ToSchema)]
pub struct FieldError {
    pub field: String,
    pub detail: String,
}

impl Problem {
    pub fn json(mut self, request_id: &str) -> Vec<u8> {
        request_id.clone_into(&mut self.request_id);
        // strings and numbers always become JSON
        serde_json::to_vec(&self).unwrap_or_default()
    }
}
