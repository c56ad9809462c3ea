//! Sends one notification: to a webhook, to a topic of ntfy, or by mail. One file a kind.
//!
//! In: a [`Notice`], a target, secrets. Out: the receiver's status, or a [`SendError`] with what helps. It must not know
//! when it tries again, nor where notices come from.

mod mail;
mod ntfy;
mod text;
mod webhook;

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use thiserror::Error;
use tokio::time::timeout;

use super::http::{Answer, Http, HttpError};
use crate::retry_after::retry_after;
use domain::notification::Target;
use foundation::webhook_signature::BadWebhookSecret;

/// Maximum time of one try.
pub const MAX_TIME: Duration = Duration::from_secs(20);

/// A message, which has the same id in every try.
#[derive(Clone, Debug)]
pub struct Notice {
    pub id: i64,
    /// `job.completed`, `job.failed` or `test`.
    pub event: String,
    pub created_at: DateTime<Utc>,
    pub body: Value,
}

/// The secrets of an endpoint. It has no `Debug`.
#[derive(Default)]
pub struct SendSecrets {
    pub username: Option<String>,
    pub current: Option<String>,
    /// A webhook is signed with it, too.
    pub previous: Option<String>,
}

#[derive(Debug, Error)]
pub enum SendError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("the receiver did not answer within {} s", MAX_TIME.as_secs())]
    Late,
    #[error("the receiver answers {status}{}", remedy(*.status))]
    Refused { status: u16, retry_after: Option<Duration> },
    /// It wants no notification any more.
    #[error("the receiver answers 410: it is gone")]
    Gone,
    #[error(transparent)]
    Secret(#[from] BadWebhookSecret),
    #[error("a webhook needs a credential with its secret")]
    NoSecret,
    #[error("the token has characters that no header can have")]
    NotSendable,
    #[error("the mail server {0}")]
    Mail(String),
    #[error("the mail server answers {status}{}: {text}", mail_remedy(*.status))]
    MailRefused { status: u16, text: String },
    #[error("the mail cannot be written: {0}")]
    NoMail(String),
}

/// `now`: the time of this try. Returns the status of the answer.
pub async fn send(
    http: &Http,
    target: &Target,
    notice: &Notice,
    secrets: &SendSecrets,
    now: DateTime<Utc>,
) -> Result<u16, SendError> {
    let sent = async {
        match target {
            Target::Webhook(url) => webhook::send(http, url, notice, secrets, now).await,
            Target::Ntfy(url) => ntfy::send(http, url, notice, secrets).await,
            Target::Mail(mail) => mail::send(http, mail, notice, secrets, now).await,
        }
    };
    timeout(MAX_TIME, sent).await.unwrap_or(Err(SendError::Late))
}

impl SendError {
    /// The status of HTTP or SMTP, where there was an answer.
    pub fn status(&self) -> Option<u16> {
        match self {
            SendError::Refused { status, .. } | SendError::MailRefused { status, .. } => Some(*status),
            SendError::Gone => Some(410),
            _ => None,
        }
    }

    /// How long the receiver asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        if let SendError::Refused { retry_after, .. } = self { *retry_after } else { None }
    }
}

fn judged(answer: &Answer) -> Result<u16, SendError> {
    match answer.status.as_u16() {
        status @ 200..=299 => Ok(status),
        410 => Err(SendError::Gone),
        status => Err(SendError::Refused { status, retry_after: retry_after(&answer.headers) }),
    }
}

fn remedy(status: u16) -> &'static str {
    match status {
        300..=399 => ", a redirect, which is not followed: give the endpoint the address that it leads to",
        401 | 403 => ": give the endpoint a credential that the receiver accepts",
        404 | 405 => ": is the endpoint's target right?",
        413 => ": it takes no message of this size",
        _ => "",
    }
}

fn mail_remedy(status: u16) -> &'static str {
    match status {
        530 | 534 | 535 => " (give the endpoint a credential that it accepts)",
        550 | 553 => " (are the sender and the recipients of the target right?)",
        _ => "",
    }
}
