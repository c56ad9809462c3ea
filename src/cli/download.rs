//! `Download`: a file that the API streams, piece by piece. Memory does not grow with its size.
//!
//! In: the body of an answer. Out: its bytes, and the number of rows from its trailer. A body that breaks off is an error.

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;

use super::ExitCode;
use super::client::{ClientError, MAX_WAIT};
use contract::exports::ROWS_TRAILER;

pub struct Download {
    body: Body,
    /// Name of the server in errors.
    server: String,
    rows: Option<i64>,
}

impl Download {
    pub fn new(body: Body, server: String) -> Download {
        Download { body, server, rows: None }
    }

    /// The next piece; None at the end of the file.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        loop {
            let frame = tokio::time::timeout(MAX_WAIT, self.body.frame()).await;
            let frame = frame.map_err(|_| self.broken(&format!("no data within {MAX_WAIT:?}")))?;
            let Some(frame) = frame.transpose().map_err(|error| self.broken(&error.to_string()))? else {
                return Ok(None);
            };
            match frame.into_data() {
                Ok(piece) => return Ok(Some(piece)),
                Err(other) => self.read_trailers(other.into_trailers().unwrap_or_default()),
            }
        }
    }

    /// Number of rows, at the end; None: a proxy on the way left it out.
    pub fn rows(&self) -> Option<i64> {
        self.rows
    }

    fn read_trailers(&mut self, trailers: http::HeaderMap) {
        self.rows = trailers.get(ROWS_TRAILER).and_then(|rows| rows.to_str().ok()?.parse().ok());
    }

    fn broken(&self, fault: &str) -> ClientError {
        ClientError::new(ExitCode::Unavailable, format!("{}: the file broke off: {fault}", self.server))
    }
}
