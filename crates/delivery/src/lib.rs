//! Sends one notification: to a webhook, to a topic of ntfy, or by mail. One file a kind.
//!
//! In: a [`Notice`], a target, secrets. Out: how a try ended: the receiver's status, or a [`SendError`] with what helps. A
//! status that accepts the message decides, even if the rest is broken. It must not know when it tries again, nor where notices
//! come from.

#[cfg_attr(not(feature = "mail"), path = "letter_absent.rs")]
mod letter;
mod mail;
mod ntfy;
mod smtp;
mod text;
mod webhook;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use thiserror::Error;

use self::smtp::SmtpError;
use domain::notification::Target;
use domain::notification::recipient::Recipients;
use foundation::webhook_signature::BadWebhookSecret;
use public_http::retry_after::retry_after;
use public_http::{Http, HttpError, PostAnswer};

/// Maximum time of one try: a mail server may take ten minutes to answer a mail, and some before.
pub const MAX_TIME: Duration = Duration::from_secs(21 * 60);

/// A message, which has the same id in every try.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Unique in the world.
    pub message_id: String,
    /// An event that a rule may ask for, or `test`.
    pub event: String,
    pub created_at: DateTime<Utc>,
    pub body: Value,
    /// The answers of the tries before, for the recipients of a mail.
    pub recipients: Recipients,
}

/// How a try ended.
#[derive(Debug)]
pub struct Tried {
    /// The status of the last answer, of HTTP or SMTP. `recipients` says for whom a mail was taken.
    pub result: Result<u16, SendError>,
    /// The answers of this try for the recipients of a mail, also before an error.
    pub recipients: Recipients,
}

/// Whether the receiver may have the message already, so that a try that is stopped does better to wait for the answer.
#[derive(Debug, Default)]
pub struct Handed(AtomicBool);

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
    #[error("the receiver did not answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error("the receiver answers {status}{}", remedy(*.status))]
    Refused { status: u16, retry_after: Option<Duration> },
    /// The receiver wants no more notifications.
    #[error("the receiver answers 410: it is gone")]
    Gone,
    #[error(transparent)]
    Secret(#[from] BadWebhookSecret),
    #[error("a webhook needs a credential with its secret")]
    NoSecret,
    #[error("the token contains characters that a header cannot have")]
    NotSendable,
    #[error("the mail server {0}")]
    Mail(String),
    #[error("the mail server {0}")]
    Smtp(#[from] SmtpError),
    #[error("the mail server {0}; it may have the mail, which is sent again under the same Message-ID")]
    InDoubt(SmtpError),
    #[error("the mail server answers {status}{}: {text}", mail_remedy(*.status))]
    MailRefused { status: u16, text: String },
    #[error("the mail cannot be written: {0}")]
    NoMail(String),
}

/// `now`: the time of this try.
pub async fn send(
    http: &Http,
    target: &Target,
    notice: &Notice,
    secrets: &SendSecrets,
    now: DateTime<Utc>,
    handed: &Handed,
) -> Tried {
    let result = match target {
        Target::Mail(mail) => return mail::send(http, mail, notice, secrets, now, handed).await,
        Target::Webhook(url) => webhook::send(http, url, notice, secrets, now, handed).await,
        Target::Ntfy(url) => ntfy::send(http, url, notice, secrets, handed).await,
    };
    Tried { result, recipients: Recipients::default() }
}

impl Handed {
    pub fn is_noted(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn note(&self) {
        self.0.store(true, Ordering::Release);
    }
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

fn judged(answer: &PostAnswer) -> Result<u16, SendError> {
    match answer.status {
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
