//! `ApiClient`: calls the API for commands. By default the router runs in this process, on the database
//! itself; with `--url` a server answers, called with the token of `DROVER_TOKEN`. A refusal is a
//! [`ClientError`] with the exit code of its status.

use std::fmt::Display;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, TE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;
use tower::ServiceExt;

use super::download::Download;
use super::remote::Remote;
use super::{ExitCode, missing};

/// Maximum size of an answer; larger than the largest page of a list.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;
/// Maximum time for an answer, or for the next piece of a file; the server's own limit is shorter.
pub const MAX_WAIT: Duration = Duration::from_secs(120);

pub struct ApiClient {
    server: Server,
    /// How refusals name the fields of requests; None: as the API does.
    flags: Option<&'static [(&'static str, &'static str)]>,
}

/// Reason why there is no answer, or the refusal.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct ClientError {
    pub code: ExitCode,
    message: String,
    /// The faulty parameter or field.
    field: Option<String>,
}

impl ClientError {
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        ClientError { code, message: message.into(), field: None }
    }

    /// Replaces the field's name in the error by the flag that sets it: the one in `flags`, else that of the same name.
    pub fn naming_flags(mut self, flags: &[(&str, &str)]) -> Self {
        if let Some(field) = &self.field
            && let Some(fault) = self.message.strip_prefix(&format!("{field}: "))
        {
            let field = field.strip_prefix("filter.").unwrap_or(field);
            let flag = flags.iter().find(|(name, _)| *name == field);
            let flag = flag.map_or_else(|| format!("--{field}"), |(_, flag)| (*flag).to_owned());
            self.message = format!("{}: {fault}", flag.replace('_', "-"));
        }
        self
    }
}

enum Server {
    Local(Router),
    Remote(Remote),
}

impl ApiClient {
    pub fn local(router: Router) -> Self {
        ApiClient { server: Server::Local(router), flags: None }
    }

    pub fn remote(remote: Remote) -> Self {
        ApiClient { server: Server::Remote(remote), flags: None }
    }

    /// Refusals name the flag that sets a field, as [`ClientError::naming_flags`] does.
    pub fn naming(self, flags: &'static [(&'static str, &'static str)]) -> Self {
        ApiClient { flags: Some(flags), ..self }
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.send(Method::POST, path, json(body)?).await
    }

    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.send(Method::PUT, path, json(body)?).await
    }

    pub async fn delete(&self, path: &str) -> Result<(), ClientError> {
        self.deleted::<Option<Value>>(path).await.map(drop)
    }

    /// Same as [`ApiClient::delete`], where the answer describes what was deleted.
    pub async fn deleted<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::DELETE, path, Bytes::new()).await
    }

    /// Begins to read a file.
    pub async fn download(&self, path: &str) -> Result<Download, ClientError> {
        let mut request = self.request(Method::GET, path, Bytes::new())?;
        request.headers_mut().insert(TE, HeaderValue::from_static("trailers"));
        let late = |_| self.unreachable(&format!("no answer within {MAX_WAIT:?}"));
        let (head, body) = tokio::time::timeout(MAX_WAIT, self.answer(request)).await.map_err(late)??.into_parts();
        if head.status.is_success() {
            return Ok(Download::new(body, self.name()));
        }
        let refusal = tokio::time::timeout(MAX_WAIT, Limited::new(body, MAX_ANSWER_BYTES).collect()).await;
        let refusal = refusal.map_err(late)?.map_err(|error| self.unreadable(&error))?.to_bytes();
        Err(self.naming_own_flags(refused(head.status, &refusal)))
    }

    async fn send<T: DeserializeOwned>(&self, method: Method, path: &str, body: Bytes) -> Result<T, ClientError> {
        let request = self.request(method, path, body)?;
        let answered = async {
            let (head, body) = self.answer(request).await?.into_parts();
            let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
            let body = body.map_err(|error| self.unreadable(&error))?;
            Ok::<_, ClientError>((head.status, body.to_bytes()))
        };
        let late = |_| self.unreachable(&format!("no answer within {MAX_WAIT:?}"));
        let (status, body) = tokio::time::timeout(MAX_WAIT, answered).await.map_err(late)??;
        read(status, &body).map_err(|error| self.naming_own_flags(error))
    }

    fn naming_own_flags(&self, error: ClientError) -> ClientError {
        match self.flags {
            Some(flags) => error.naming_flags(flags),
            None => error,
        }
    }

    fn request(&self, method: Method, path: &str, body: Bytes) -> Result<Request<Body>, ClientError> {
        let mut request = Request::builder().method(method).uri(path);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Server::Remote(remote) = &self.server {
            request = request.header(HOST, remote.authority());
            if let Some(token) = remote.token() {
                let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
                    ClientError::new(ExitCode::Usage, "DROVER_TOKEN contains characters that a token cannot have")
                })?;
                value.set_sensitive(true);
                request = request.header(AUTHORIZATION, value);
            }
        }
        request.body(Body::from(body)).map_err(|error| ClientError::new(ExitCode::Usage, format!("{path}: {error}")))
    }

    async fn answer(&self, request: Request<Body>) -> Result<Response<Body>, ClientError> {
        match &self.server {
            Server::Local(router) => match router.clone().oneshot(request).await {
                Ok(response) => Ok(response),
                Err(never) => match never {},
            },
            Server::Remote(remote) => remote.send(request).await.map_err(|error| self.unreachable(&error)),
        }
    }

    fn unreadable(&self, error: &dyn Display) -> ClientError {
        self.unreachable(&format!("cannot read its answer: {error}"))
    }

    fn unreachable(&self, fault: &str) -> ClientError {
        ClientError::new(ExitCode::Unavailable, format!("{}: {fault}", self.name()))
    }

    /// Name of the server in errors.
    fn name(&self) -> String {
        match &self.server {
            Server::Local(_) => "the API of this process".to_owned(),
            Server::Remote(remote) => remote.to_string(),
        }
    }
}

fn json(body: &impl Serialize) -> Result<Bytes, ClientError> {
    let bytes = serde_json::to_vec(body).map_err(|error| ClientError::new(ExitCode::Failure, error.to_string()))?;
    Ok(bytes.into())
}

/// The path with a query of all pairs that have a value.
pub fn with_query<N: AsRef<str>, V: ToString>(path: &str, pairs: impl IntoIterator<Item = (N, Option<V>)>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        if let Some(value) = value {
            query.append_pair(name.as_ref(), &value.to_string());
        }
    }
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// Escapes a text as one segment of a path.
pub fn path_segment(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}

fn read<T: DeserializeOwned>(status: StatusCode, body: &[u8]) -> Result<T, ClientError> {
    if !status.is_success() {
        return Err(refused(status, body));
    }
    let body = if body.is_empty() { b"null" } else { body };
    serde_json::from_slice(body).map_err(|error| {
        ClientError::new(
            ExitCode::Failure,
            format!("this version of drover cannot read the answer of the server: {error}"),
        )
    })
}

/// Makes the error of a problem document, with the exit code of its status.
fn refused(status: StatusCode, body: &[u8]) -> ClientError {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let detail = problem["detail"]
        .as_str()
        .unwrap_or("the server sent no problem document; check that --url is the address of a drover API");
    let message = match status {
        StatusCode::UNAUTHORIZED => format!("{detail}; set DROVER_TOKEN"),
        _ => missing::with_remedy(detail),
    };
    let code = match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => ExitCode::Usage,
        StatusCode::NOT_FOUND => ExitCode::NotFound,
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => ExitCode::Conflict,
        StatusCode::SERVICE_UNAVAILABLE => ExitCode::Unavailable,
        _ => ExitCode::Failure,
    };
    ClientError { code, message, field: problem["field"].as_str().map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::not_found(404, ExitCode::NotFound)]
    #[case::conflict(409, ExitCode::Conflict)]
    #[case::bad_field(400, ExitCode::Usage)]
    #[case::no_database(503, ExitCode::Unavailable)]
    #[case::no_token(401, ExitCode::Failure)]
    fn a_refusal_has_the_exit_code_of_its_status(#[case] status: u16, #[case] code: ExitCode) {
        let error = refused(StatusCode::from_u16(status).unwrap(), br#"{"detail": "task 7 does not exist"}"#);
        assert_eq!(error.code, code);
        assert!(error.message.starts_with("task 7 does not exist"));
    }

    #[test]
    fn only_given_values_are_in_the_query() {
        let path = with_query("/api/tasks", [("status", Some("failed")), ("role", None), ("q", Some("a&b"))]);
        assert_eq!(path, "/api/tasks?status=failed&q=a%26b");
        assert_eq!(with_query("/api/tasks", [("status", None::<String>)]), "/api/tasks");
    }
}
