//! `Change`: the transaction of a request that changes something, with its audit rows and the answer to its
//! `Idempotency-Key`.
//!
//! Dropped without [`Change::answer`] or [`Change::commit`], nothing is changed.

use std::fmt::Display;
use std::ops::Deref;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;

use super::{ApiError, ApiState};
use db::access::idempotency_keys::KeptAnswer;
use db::{Client, DbError, Tx, access};
use domain::access::{AuditEntry, Principal};

pub struct Change {
    tx: Tx,
    principal: Principal,
    request_id: String,
    key: Option<IdempotencyKey>,
    audited: Vec<AuditEntry>,
}

/// A client's own name for a request, so that it may be sent again.
pub struct IdempotencyKey {
    pub key: String,
    /// Digest of method, target and body.
    pub request: String,
}

impl Change {
    pub async fn begin(
        api: &ApiState,
        principal: Principal,
        request_id: String,
        key: Option<IdempotencyKey>,
    ) -> Result<Change, ApiError> {
        let tx = api.db.begin_api().await?;
        if let Some(IdempotencyKey { key, request }) = &key {
            match access::idempotency_keys::take(&tx, &principal.name, key, request).await? {
                None => {}
                Some(kept) if kept.request == *request => return Err(ApiError::Answered(Box::new(kept))),
                Some(_) => return Err(ApiError::KeyReused(key.clone())),
            }
        }
        Ok(Change { tx, principal, request_id, key, audited: Vec::new() })
    }

    /// Notes the change for `audit_log`; written with the commit.
    pub fn audit(&mut self, action: &'static str, target: impl Display, detail: Value) {
        self.audited.push(AuditEntry { action, target: target.to_string(), detail });
    }

    /// Commits, and answers with `body`.
    pub async fn answer(self, status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
        self.answer_read(status, None, async |_| Ok(body)).await
    }

    /// Commits, and answers 201 with the new resource and where it is.
    pub async fn created(self, location: String, body: &impl Serialize) -> Result<Response, ApiError> {
        self.answer_read(StatusCode::CREATED, Some(location), async |_| Ok(body)).await
    }

    /// Commits, and answers 202 with the operation that continues and its address.
    pub async fn accepted(self, location: String, body: &impl Serialize) -> Result<Response, ApiError> {
        self.answer_read(StatusCode::ACCEPTED, Some(location), async |_| Ok(body)).await
    }

    /// Commits, and answers 204: the resource is gone.
    pub async fn no_content(self) -> Result<StatusCode, ApiError> {
        self.commit(StatusCode::NO_CONTENT, Value::Null).await?;
        Ok(StatusCode::NO_CONTENT)
    }

    /// Commits, and answers with the result of `read`.
    pub async fn answer_read<T: Serialize>(
        mut self,
        status: StatusCode,
        location: Option<String>,
        read: impl AsyncFnOnce(&Client) -> Result<T, DbError>,
    ) -> Result<Response, ApiError> {
        let body = match self.key.take() {
            None => json(&self.write(read).await?)?,
            Some(key) => {
                let body = json(&read(&self.tx).await?)?;
                self.keep(key, status, location.clone(), body.clone()).await?;
                body
            }
        };
        let response = (status, Json(body));
        Ok(match location {
            None => response.into_response(),
            Some(location) => ([(header::LOCATION, location)], response).into_response(),
        })
    }

    /// Commits a change that is answered otherwise. A repetition of the request gets `kept`: secrets of an
    /// answer are not kept.
    pub async fn commit(mut self, status: StatusCode, kept: Value) -> Result<(), ApiError> {
        match self.key.take() {
            None => Ok(self.write(async |_| Ok(())).await?),
            Some(key) => self.keep(key, status, None, kept).await,
        }
    }

    /// Commits, with the answer to the request's key.
    async fn keep(
        self,
        key: IdempotencyKey,
        status: StatusCode,
        location: Option<String>,
        body: Value,
    ) -> Result<(), ApiError> {
        let answer = KeptAnswer { request: key.request, status: status.as_u16(), location, body };
        access::idempotency_keys::keep(&self.tx, &self.principal.name, &key.key, &answer).await?;
        Ok(self.write(async |_| Ok(())).await?)
    }

    async fn write<T>(self, read: impl AsyncFnOnce(&Client) -> Result<T, DbError>) -> Result<T, DbError> {
        access::audit_log::commit(self.tx, &self.principal, &self.request_id, &self.audited, read).await
    }
}

impl Deref for Change {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        &self.tx
    }
}

fn json(body: &impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(body).map_err(ApiError::no_json)
}
