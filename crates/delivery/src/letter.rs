//! The text of a mail, by the crate lettre.
//!
//! In: a notice and its target. Out: the bytes of the mail. It must not know servers.

use chrono::{DateTime, Utc};
use lettre::Message;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;

use super::mail::ascii_domain;
use super::{Notice, SendError, text};
use domain::notification::MailTarget;

/// Errors: an address of the target is none.
pub fn written(target: &MailTarget, notice: &Notice, now: DateTime<Utc>) -> Result<Vec<u8>, SendError> {
    let domain = target.from.rsplit_once('@').map_or("drover.invalid", |(_, domain)| domain);
    let mut message = Message::builder()
        .from(mailbox(&target.from)?)
        .subject(text::title(notice))
        .date(now.into())
        .message_id(Some(format!("<{}@{}>", notice.message_id, ascii_domain(domain))))
        .header(ContentType::TEXT_PLAIN);
    for to in &target.to {
        message = message.to(mailbox(to)?);
    }
    let message = message.body(text::message(notice)).map_err(|error| SendError::NoMail(error.to_string()))?;
    Ok(message.formatted())
}

fn mailbox(address: &str) -> Result<Mailbox, SendError> {
    let address = address.parse().map_err(|_| SendError::NoMail(format!("'{address}' is not a mail address")))?;
    Ok(Mailbox::new(None, address))
}
