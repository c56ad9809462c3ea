//! Mails, sent to a mail server by SMTP.
//!
//! The connection has TLS before a login or a mail is sent. A server of a private network, which only
//! `media.allow_private` permits, may do without. The mail of every try has the same Message-ID.

use std::net::SocketAddr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use lettre::Message;
use lettre::address::Envelope;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::time::timeout;

use super::{MAX_TIME, Notice, SendError, SendSecrets, text};
use crate::http::Http;
use domain::notification::MailTarget;
use domain::public_host::is_public_address;

const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];
const MAX_FAREWELL: Duration = Duration::from_secs(2);
/// Maximum bytes of a server's text in an error.
const MAX_TEXT: usize = 200;

pub async fn send(
    http: &Http,
    target: &MailTarget,
    notice: &Notice,
    secrets: &SendSecrets,
    now: DateTime<Utc>,
) -> Result<u16, SendError> {
    let (envelope, mail) = written(target, notice, now)?;
    let addresses = http.addresses(&target.server, target.port).await?;
    let mut connection = connect(target, &addresses).await?;
    let sent = deliver(&mut connection, &envelope, &mail, secrets).await;
    // the farewell changes nothing: a server that never answers it has the mail
    tokio::spawn(async move { timeout(MAX_FAREWELL, connection.quit()).await });
    sent
}

async fn connect(target: &MailTarget, addresses: &[SocketAddr]) -> Result<AsyncSmtpConnection, SendError> {
    let hello = ClientId::default();
    let tls = TlsParameters::builder(target.server.to_string()).build_rustls().map_err(failure)?;
    let from_the_start = target.begins_with_tls.then(|| tls.clone());
    let connected = AsyncSmtpConnection::connect_tokio1(addresses, Some(MAX_TIME), &hello, from_the_start, None);
    let mut connection = connected.await.map_err(failure)?;
    let is_private = addresses.iter().all(|address| !is_public_address(address.ip()));
    let needs_tls = !target.begins_with_tls && (connection.can_starttls() || !is_private);
    if needs_tls {
        connection.starttls(tls, &hello).await.map_err(failure)?;
    }
    Ok(connection)
}

async fn deliver(
    connection: &mut AsyncSmtpConnection,
    envelope: &Envelope,
    mail: &[u8],
    secrets: &SendSecrets,
) -> Result<u16, SendError> {
    if let (Some(username), Some(password)) = (&secrets.username, &secrets.current) {
        let login = Credentials::new(username.clone(), password.clone());
        connection.auth(&MECHANISMS, &login).await.map_err(failure)?;
    }
    let response = connection.send(envelope, mail).await.map_err(failure)?;
    Ok(response.code().into())
}

/// The mail, and to whom it goes.
fn written(target: &MailTarget, notice: &Notice, now: DateTime<Utc>) -> Result<(Envelope, Vec<u8>), SendError> {
    let mut message = Message::builder()
        .from(mailbox(&target.from)?)
        .subject(text::title(notice))
        .date(now.into())
        .message_id(Some(format!("<msg_{}@drover>", notice.id)))
        .header(ContentType::TEXT_PLAIN);
    for to in &target.to {
        message = message.to(mailbox(to)?);
    }
    let message = message.body(text::message(notice)).map_err(|error| SendError::NoMail(error.to_string()))?;
    Ok((message.envelope().clone(), message.formatted()))
}

fn mailbox(address: &str) -> Result<Mailbox, SendError> {
    let address = address.parse().map_err(|_| SendError::NoMail(format!("'{address}' is no address of mail")))?;
    Ok(Mailbox::new(None, address))
}

fn failure(error: Error) -> SendError {
    let mut text = error.to_string();
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    match error.status() {
        Some(code) => SendError::MailRefused { status: code.into(), text },
        None if error.is_timeout() => SendError::Late,
        None => SendError::Mail(format!("cannot be used: {}", causes(&error, text))),
    }
}

fn causes(error: &Error, text: String) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    match cause.filter(|cause| !text.contains(cause.as_str())) {
        Some(cause) => format!("{text}: {cause}"),
        None => text,
    }
}
