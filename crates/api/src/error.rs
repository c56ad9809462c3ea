//! `ApiError`: the only place where an error becomes HTTP: a status and a problem document (RFC 9457).

use std::fmt::Display;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use thiserror::Error;

use cluster::ClusterError;
use contract::checks::BadField;
use contract::problem::{FieldError, Problem};
use db::DbError;
use db::access::idempotency_keys::KeptAnswer;
use db::schedules::ScheduleError;
use db::tasks::ChangeError;
use db::tasks::generation::GenerationError;
use db::tasks::operations::BulkError;
use db::tasks::requests::{DUPLICATE_HINT, RequestError};
use domain::task::TaskId;

/// Maximum field errors of one answer.
const MAX_FIELD_ERRORS: usize = 100;

#[derive(Debug, Error)]
pub enum ApiError {
    /// A query parameter, path segment or body field is wrong; it is named.
    #[error("{field}: {fault}")]
    Bad { field: String, fault: String },
    /// Several fields are wrong; each is named.
    #[error("{}", several(.0))]
    BadFields(Vec<(String, String)>),
    #[error("the body cannot be read: {0}")]
    BadBody(String),
    /// The caller is not known.
    #[error("{0}")]
    Unauthenticated(&'static str),
    #[error("{0}")]
    Forbidden(String),
    #[error("{0} does not exist")]
    NotFound(String),
    #[error("{field}: {what} does not exist")]
    MissingReference { field: &'static str, what: String },
    #[error("{path} does not support {method}")]
    NotAllowed { method: Method, path: String },
    #[error("the body did not arrive within {limit:?}", limit = .0)]
    SlowBody(Duration),
    #[error("{0}")]
    Conflict(String),
    #[error("task {existing} with the key '{key}' is queued or running already; {DUPLICATE_HINT}")]
    Duplicate { existing: TaskId, key: String },
    #[error("task {existing} does the same and is queued or running already")]
    DuplicateWork { existing: TaskId },
    /// A file that a row names has gone.
    #[error("{0}")]
    Gone(String),
    /// Changes after the reader's place were removed.
    #[error("{0}")]
    CursorExpired(String),
    /// A file differs from the written one.
    #[error("{0}")]
    Damaged(String),
    /// A stored file is not an image.
    #[error("{0}")]
    NotAnImage(String),
    #[error("{0}")]
    FilesUnavailable(String),
    /// The version that the request is for is not there any more.
    #[error("{0}")]
    Changed(String),
    /// There is no geo database, or it cannot be read.
    #[error("{0}")]
    GeoOff(String),
    /// None of the parts that are asked for is in the body.
    #[error("the body has only {0} bytes, and the requested range is beyond them")]
    NoSuchRange(u64),
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the target of the request is longer than {0} bytes")]
    TargetTooLong(usize),
    #[error("the header fields are larger than {0} bytes")]
    HeadTooLarge(usize),
    #[error("the body is {0}, not application/json")]
    NotJson(String),
    #[error("the body has Content-Encoding {0}: send it uncompressed")]
    Coded(String),
    #[error("too many requests with this token: try again in {0:.0?}")]
    TooManyRequests(Duration),
    #[error("the Idempotency-Key '{0}' was sent with another request")]
    KeyReused(String),
    /// No error: the request was answered before, and gets that answer again.
    #[error("answered before")]
    Answered(Box<KeptAnswer>),
    #[error("not answered within {limit:?}", limit = .0)]
    TimedOut(Duration),
    /// Kubernetes did not make the change.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The server has no room now.
    #[error("{0}")]
    Busy(String),
    /// Another transaction holds the same rows.
    #[error("{0}")]
    Contended(String),
    #[error("{0}")]
    Unavailable(String),
    /// A fault of the server; the text goes to the log only.
    #[error("{0}")]
    Internal(String),
}

/// Details of an error response for the log, as an extension.
#[derive(Clone)]
pub struct InternalCause(pub String);

impl ApiError {
    pub fn bad(field: impl Into<String>, fault: impl Display) -> Self {
        ApiError::Bad { field: field.into(), fault: fault.to_string() }
    }

    /// An answer that cannot be written as JSON.
    pub fn no_json(error: serde_json::Error) -> Self {
        ApiError::Internal(format!("an answer is not JSON: {error}"))
    }

    fn status(&self) -> StatusCode {
        match self {
            ApiError::Bad { .. } | ApiError::BadFields(_) | ApiError::BadBody(_) => StatusCode::BAD_REQUEST,
            ApiError::Unauthenticated(_) => StatusCode::UNAUTHORIZED,
            ApiError::Forbidden(_) => StatusCode::FORBIDDEN,
            ApiError::NotFound(_) | ApiError::MissingReference { .. } => StatusCode::NOT_FOUND,
            ApiError::NotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            ApiError::SlowBody(_) => StatusCode::REQUEST_TIMEOUT,
            ApiError::Conflict(_) | ApiError::Duplicate { .. } | ApiError::DuplicateWork { .. } => StatusCode::CONFLICT,
            ApiError::Gone(_) | ApiError::CursorExpired(_) => StatusCode::GONE,
            ApiError::Damaged(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ApiError::FilesUnavailable(_) | ApiError::GeoOff(_) => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Changed(_) => StatusCode::PRECONDITION_FAILED,
            ApiError::TooManyRequests(_) => StatusCode::TOO_MANY_REQUESTS,
            ApiError::KeyReused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ApiError::Answered(_) => StatusCode::OK,
            ApiError::NoSuchRange(_) => StatusCode::RANGE_NOT_SATISFIABLE,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::TargetTooLong(_) => StatusCode::URI_TOO_LONG,
            ApiError::HeadTooLarge(_) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            ApiError::NotJson(_) | ApiError::Coded(_) | ApiError::NotAnImage(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ApiError::TimedOut(_) | ApiError::Busy(_) | ApiError::Contended(_) | ApiError::Unavailable(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ApiError::Cluster(error) => cluster_status(error),
            ApiError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The header that the client needs beside the text.
    fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            ApiError::Unauthenticated(_) => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            ApiError::TooManyRequests(wait) | ApiError::Cluster(ClusterError::Throttled(wait)) => {
                Some((header::RETRY_AFTER, HeaderValue::from(wait.as_secs().saturating_add(1))))
            }
            ApiError::NoSuchRange(whole) => {
                HeaderValue::try_from(format!("bytes */{whole}")).ok().map(|range| (header::CONTENT_RANGE, range))
            }
            ApiError::Busy(_) | ApiError::Contended(_) => Some((header::RETRY_AFTER, HeaderValue::from_static("1"))),
            _ => None,
        }
    }

    pub fn field(&self) -> Option<&str> {
        match self {
            ApiError::Bad { field, .. } => Some(field),
            ApiError::MissingReference { field, .. } => Some(field),
            _ => None,
        }
    }

    /// Lists at most [`MAX_FIELD_ERRORS`].
    fn field_errors(&self) -> Vec<FieldError> {
        let named = |(field, detail): &(String, String)| FieldError { field: field.clone(), detail: detail.clone() };
        match self {
            ApiError::Bad { field, fault } => vec![FieldError { field: field.clone(), detail: fault.clone() }],
            ApiError::BadFields(faults) => faults.iter().take(MAX_FIELD_ERRORS).map(named).collect(),
            ApiError::MissingReference { field, what } => {
                vec![FieldError { field: (*field).to_owned(), detail: format!("{what} does not exist") }]
            }
            _ => Vec::new(),
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            ApiError::GeoOff(_) => Some("geo_off"),
            ApiError::CursorExpired(_) => Some("cursor_expired"),
            _ => None,
        }
    }

    pub fn existing_task(&self) -> Option<TaskId> {
        match self {
            ApiError::Duplicate { existing, .. } | ApiError::DuplicateWork { existing } => Some(*existing),
            _ => None,
        }
    }

    /// Returns the text for the caller, without the database's own error text, which may name hosts and accounts and is for
    /// the log only.
    pub fn detail(&self) -> String {
        match self {
            ApiError::Internal(_) => "the request failed on the server; search its log for this request_id".to_owned(),
            ApiError::FilesUnavailable(_) => "the payload files cannot be read; try again later".to_owned(),
            ApiError::Contended(_) => {
                "another request or a worker is changing the same rows; try again in a moment".to_owned()
            }
            ApiError::Unavailable(_) => "the database is unavailable; try again later".to_owned(),
            other => other.to_string(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let ApiError::Answered(kept) = &self {
            return answer_again(kept);
        }
        let status = self.status();
        let errors = self.field_errors();
        let problem = Problem {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: self.detail(),
            code: self.code(),
            field: errors.first().map(|error| error.field.clone()),
            errors,
            task_id: self.existing_task(),
            request_id: String::new(),
        };
        let mut response = (status, [(header::CONTENT_TYPE, "application/problem+json")]).into_response();
        response.extensions_mut().insert(problem);
        if let Some((name, value)) = self.header() {
            response.headers_mut().insert(name, value);
        }
        if status.is_server_error() {
            response.extensions_mut().insert(InternalCause(self.to_string()));
        }
        response
    }
}

fn cluster_status(error: &ClusterError) -> StatusCode {
    match error {
        ClusterError::Forbidden { .. } => StatusCode::FORBIDDEN,
        ClusterError::Missing { .. } => StatusCode::NOT_FOUND,
        ClusterError::Conflict { .. } => StatusCode::CONFLICT,
        ClusterError::Throttled(_) => StatusCode::TOO_MANY_REQUESTS,
        ClusterError::Slow(_) => StatusCode::GATEWAY_TIMEOUT,
        ClusterError::Outside(_)
        | ClusterError::BadKubeconfig(_)
        | ClusterError::Unreachable(_)
        | ClusterError::Refused { .. }
        | ClusterError::NoStatefulSet(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The first fault, and how many more there are.
fn several(faults: &[(String, String)]) -> String {
    match faults {
        [] => "a field is wrong".to_owned(),
        [(field, fault)] => format!("{field}: {fault}"),
        [(field, fault), more @ ..] => format!("{field}: {fault} (and {} more)", more.len()),
    }
}

impl From<DbError> for ApiError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Missing(what) => ApiError::NotFound(what),
            DbError::Unfit(fault) | DbError::Reference(fault) => ApiError::Conflict(fault),
            DbError::Contention(text) => ApiError::Contended(text),
            DbError::Unavailable(text) | DbError::TooSlow(text) => ApiError::Unavailable(text),
            other => ApiError::Internal(other.to_string()),
        }
    }
}

impl From<BadField> for ApiError {
    fn from(bad: BadField) -> Self {
        ApiError::bad(bad.field, bad.fault)
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Bad(bad) => bad.into(),
            RequestError::Missing { field, what } => ApiError::MissingReference { field, what },
            RequestError::Duplicate { existing, key } => ApiError::Duplicate { existing, key },
            RequestError::Db(error) => error.into(),
        }
    }
}

impl From<GenerationError> for ApiError {
    fn from(error: GenerationError) -> Self {
        match error {
            GenerationError::Bad(bad) => bad.into(),
            GenerationError::Db(DbError::Contention(_)) => being_made(),
            GenerationError::Db(error) => error.into(),
        }
    }
}

fn being_made() -> ApiError {
    ApiError::Conflict("another request or a schedule is creating such tasks now; try again".to_owned())
}

impl From<ScheduleError> for ApiError {
    fn from(error: ScheduleError) -> Self {
        match error {
            ScheduleError::Bad(bad) => bad.into(),
            ScheduleError::Missing(id) => ApiError::NotFound(format!("schedule {id}")),
            ScheduleError::Db(DbError::Contention(_)) => being_made(),
            ScheduleError::Db(error) => error.into(),
            taken @ ScheduleError::NameTaken(_) => ApiError::Conflict(taken.to_string()),
            changed @ ScheduleError::Changed(_) => ApiError::Changed(changed.to_string()),
        }
    }
}

impl From<BulkError> for ApiError {
    fn from(error: BulkError) -> Self {
        match error {
            BulkError::Bad(bad) => bad.into(),
            BulkError::Db(error) => error.into(),
        }
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Bad(bad) => bad.into(),
            ChangeError::Missing(id) => ApiError::NotFound(format!("task {id}")),
            ChangeError::Duplicate { existing, .. } => ApiError::DuplicateWork { existing },
            ChangeError::Db(error) => error.into(),
            changed @ ChangeError::Changed { .. } => ApiError::Changed(changed.to_string()),
            refused @ (ChangeError::Status { .. } | ChangeError::Depended { .. }) => {
                ApiError::Conflict(refused.to_string())
            }
        }
    }
}

/// The answer to a request that was answered before.
fn answer_again(kept: &KeptAnswer) -> Response {
    let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    let mut response = match status {
        StatusCode::NO_CONTENT => status.into_response(),
        _ => (status, Json(&kept.body)).into_response(),
    };
    if let Some(Ok(location)) = kept.location.as_deref().map(TryInto::try_into) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_error_text_is_logged_and_not_answered() {
        let secret = "connection to db.internal as crawler refused";
        let hidden = [ApiError::Unavailable, ApiError::Contended, ApiError::Internal];
        for error in hidden.map(|of| of(secret.to_owned())) {
            assert!(!error.detail().contains("crawler"), "{}", error.detail());
            assert!(error.to_string().contains("crawler"), "the log needs it");
        }
    }
}
