//! The body of an answer, read whole and without its content coding: some servers compress what was asked for plain.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use tokio::time::timeout;

use super::{Answer, HttpError, MAX_BODY_TIME, MAX_STALL};
use domain::http::content_coding::codings;
use foundation::cpu;
use foundation::inflate::{InflateError, leading_gzip};

impl Answer {
    /// The whole body, of at most `max` bytes.
    pub async fn bytes(self, max: usize) -> Result<Bytes, HttpError> {
        let codings = codings_of(&self.headers);
        let raw = timeout(MAX_BODY_TIME, self.read(max)).await.map_err(|_| HttpError::Slow)??;
        match codings.as_slice() {
            [] => Ok(raw),
            ["gzip"] => cpu::run(move || leading_gzip(&raw, max))
                .await
                .map(|inflated| inflated.text.into())
                .map_err(|fault| undecodable("gzip", fault)),
            others => Err(HttpError::Coded(others.join(", "), "it was not asked for".to_owned())),
        }
    }

    async fn read(mut self, max: usize) -> Result<Bytes, HttpError> {
        let mut bytes = BytesMut::new();
        while let Some(frame) = timeout(MAX_STALL, self.body.frame()).await.map_err(|_| HttpError::Stalled)? {
            let frame = frame.map_err(|error| HttpError::Cut(error.to_string()))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > max {
                return Err(HttpError::TooLarge(max));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes.freeze())
    }
}

/// The content codings of a body; none for one that is sent as it is.
pub fn codings_of(headers: &HeaderMap) -> Vec<&'static str> {
    codings(headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes))
}

fn undecodable(coding: &str, fault: InflateError) -> HttpError {
    match fault {
        InflateError::Truncated => HttpError::Cut(fault.to_string()),
        InflateError::Broken(reason) => HttpError::Coded(coding.to_owned(), reason),
        InflateError::TooLarge { limit } => HttpError::TooLarge(limit),
    }
}
