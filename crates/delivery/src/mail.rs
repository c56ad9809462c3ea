//! Mails, sent to a mail server by SMTP.
//!
//! The connection has TLS before a login or a mail is sent. A server of a private network, which only
//! `media.allow_private` permits, may do without. The mail of every try has the same Message-ID. Each recipient is
//! answered for by itself: an accepted one gets the mail, whatever the server says of the others.

use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, Utc};
use tokio::time::timeout;
use url::Host;

use super::smtp::{Reply, Session, SmtpError};
use super::{Handed, Notice, SendError, SendSecrets, Tried, letter};
use domain::http::public_host::is_public_address;
use domain::notification::MailTarget;
use domain::notification::recipient::{Recipient, RecipientState, Recipients};
use foundation::authorities;
use public_http::Http;

/// Maximum time of all that comes before the mail itself.
const MAX_ENVELOPE_TIME: Duration = Duration::from_secs(5 * 60);
/// The name by which drover greets: the names of machines are nothing to strangers.
const OWN_NAME: &str = "[127.0.0.1]";
/// A server that takes no more recipients of one mail: RFC 5321, 4.5.3.1.10.
const TOO_MANY_RECIPIENTS: u16 = 552;
/// The code for an address that needs SMTPUTF8, where the server has none: RFC 6531, 3.5.
const NOT_ASCII: u16 = 553;
/// The server ends the conversation: it answers for no recipient.
const LEAVING: u16 = 421;

/// A mail and its recipients.
struct Letter<'a> {
    target: &'a MailTarget,
    open: Vec<&'a str>,
    bytes: Vec<u8>,
}

/// The extensions of the server.
#[derive(Default)]
struct Extensions {
    starttls: bool,
    smtputf8: bool,
    eight_bits: bool,
    login_mechanisms: Vec<String>,
}

pub async fn send(
    http: &Http,
    target: &MailTarget,
    notice: &Notice,
    secrets: &SendSecrets,
    now: DateTime<Utc>,
    handed: &Handed,
) -> Tried {
    let mut recipients = Recipients::default();
    let result = match Letter::written(target, notice, now) {
        Ok(letter) => letter.send(http, secrets, handed, &mut recipients).await,
        Err(error) => Err(error),
    };
    Tried { result, recipients }
}

impl Letter<'_> {
    fn written<'a>(target: &'a MailTarget, notice: &'a Notice, now: DateTime<Utc>) -> Result<Letter<'a>, SendError> {
        let mut open: Vec<&str> = Vec::new();
        for address in &target.to {
            if !notice.recipients.is_settled(address) && !open.contains(&address.as_str()) {
                open.push(address);
            }
        }
        Ok(Letter { target, open, bytes: letter::written(target, notice, now)? })
    }

    /// Returns the code of the last reply; `recipients` has the answer for each recipient that the server answered for,
    /// also where this is an error.
    async fn send(
        &self,
        http: &Http,
        secrets: &SendSecrets,
        handed: &Handed,
        recipients: &mut Recipients,
    ) -> Result<u16, SendError> {
        let addresses = http.addresses(&self.target.server, self.target.port).await?;
        let opened = timeout(MAX_ENVELOPE_TIME, open(self.target, &addresses));
        let (mut session, extensions) = opened.await.map_err(|_| SendError::Late(MAX_ENVELOPE_TIME))??;
        let sent = self.deliver(&mut session, &extensions, secrets, handed, recipients).await;
        // the farewell changes nothing: a server that never answers it has the mail
        tokio::spawn(session.quit());
        sent
    }

    async fn deliver(
        &self,
        session: &mut Session,
        extensions: &Extensions,
        secrets: &SendSecrets,
        handed: &Handed,
        recipients: &mut Recipients,
    ) -> Result<u16, SendError> {
        let envelope = self.envelope(session, extensions, secrets, recipients);
        let envelope = timeout(MAX_ENVELOPE_TIME, envelope).await;
        let (last, taken) = envelope.map_err(|_| SendError::Late(MAX_ENVELOPE_TIME))??;
        if taken.is_empty() {
            return Ok(last.code);
        }
        let reply = match last.is_intermediate() {
            true => session.mail(&self.bytes, || handed.note()).await.map_err(SendError::InDoubt)?,
            // it refuses the mail before it has come
            false => last,
        };
        let state = match reply.code {
            200..300 => RecipientState::Delivered,
            500.. => RecipientState::Refused,
            _ => RecipientState::Waiting,
        };
        for address in taken {
            recipients.0.insert(address.to_owned(), Recipient::new(state, reply.code, reply.text()));
        }
        Ok(reply.code)
    }

    /// Names the sender and the recipients; where one is taken, DATA. Returns the last reply and the accepted recipients.
    async fn envelope(
        &self,
        session: &mut Session,
        extensions: &Extensions,
        secrets: &SendSecrets,
        recipients: &mut Recipients,
    ) -> Result<(Reply, Vec<&str>), SendError> {
        if let (Some(username), Some(password)) = (&secrets.username, &secrets.current) {
            log_in(session, extensions, username, password).await?;
        }
        let mut from = format!("MAIL FROM:<{}>", on_the_wire(&self.target.from));
        if extensions.smtputf8 && self.needs_utf8() {
            from.push_str(" SMTPUTF8");
        }
        if extensions.eight_bits && !self.bytes.is_ascii() {
            from.push_str(" BODY=8BITMIME");
        }
        let mut last = positive(session.command("MAIL", &from).await?)?;
        let mut taken = Vec::new();
        for address in &self.open {
            let to = on_the_wire(address);
            if !to.is_ascii() && !extensions.smtputf8 {
                let refused = Recipient::new(
                    RecipientState::Refused,
                    NOT_ASCII,
                    "the server does not support SMTPUTF8".to_owned(),
                );
                recipients.0.insert((*address).to_owned(), refused);
                continue;
            }
            last = session.command("RCPT", &format!("RCPT TO:<{to}>")).await?;
            match last.code {
                200..300 => taken.push(*address),
                LEAVING => return Err(refusal(&last)),
                code => {
                    let is_final = code >= 500 && code != TOO_MANY_RECIPIENTS;
                    let state = if is_final { RecipientState::Refused } else { RecipientState::Waiting };
                    recipients.0.insert((*address).to_owned(), Recipient::new(state, code, last.text()));
                }
            }
        }
        if !taken.is_empty() {
            last = session.command("DATA", "DATA").await?;
        }
        match last.is_positive() && !taken.is_empty() {
            true => Err(SendError::Mail(format!("answers DATA with {}, where RFC 5321 requires 354", last.code))),
            false => Ok((last, taken)),
        }
    }

    fn needs_utf8(&self) -> bool {
        let addresses = std::iter::once(self.target.from.as_str()).chain(self.open.iter().copied());
        addresses.into_iter().any(|address| !on_the_wire(address).is_ascii())
    }
}

/// A session that may be used, in TLS where it has to be, with the server's extensions.
async fn open(target: &MailTarget, addresses: &[SocketAddr]) -> Result<(Session, Extensions), SendError> {
    let mut session = Session::connect(addresses).await?;
    if target.begins_with_tls {
        session = secured(session, target).await?;
    }
    positive(session.greeting().await?)?;
    let extensions = hello(&mut session).await?;
    let is_private = addresses.iter().all(|address| !is_public_address(address.ip()));
    if target.begins_with_tls || (is_private && !extensions.starttls) {
        return Ok((session, extensions));
    }
    positive(session.command("STARTTLS", "STARTTLS").await?)?;
    let mut session = secured(session, target).await?;
    let extensions = hello(&mut session).await?;
    Ok((session, extensions))
}

async fn secured(session: Session, target: &MailTarget) -> Result<Session, SendError> {
    let tls = authorities::client(None).map_err(SmtpError::Tls)?;
    Ok(session.secure(tls, &target.server.to_string()).await?)
}

async fn hello(session: &mut Session) -> Result<Extensions, SendError> {
    let reply = positive(session.command("EHLO", &format!("EHLO {OWN_NAME}")).await?)?;
    let mut extensions = Extensions::default();
    for words in reply.words() {
        let Some((first, parameters)) = words.split_first() else { continue };
        match first.as_str() {
            "STARTTLS" => extensions.starttls = true,
            "SMTPUTF8" => extensions.smtputf8 = true,
            "8BITMIME" => extensions.eight_bits = true,
            "AUTH" => extensions.login_mechanisms.extend(parameters.iter().cloned()),
            // as servers before RFC 4954 wrote it
            first => extensions.login_mechanisms.extend(first.strip_prefix("AUTH=").map(str::to_owned)),
        }
    }
    Ok(extensions)
}

async fn log_in(
    session: &mut Session,
    extensions: &Extensions,
    username: &str,
    password: &str,
) -> Result<(), SendError> {
    let has = |name: &str| extensions.login_mechanisms.iter().any(|mechanism| mechanism == name);
    if has("PLAIN") {
        let login = BASE64_STANDARD.encode(format!("\0{username}\0{password}"));
        positive(session.command("AUTH", &format!("AUTH PLAIN {login}")).await?)?;
        return Ok(());
    }
    if !has("LOGIN") {
        return Err(SendError::Mail("offers neither PLAIN nor LOGIN as a login".to_owned()));
    }
    intermediate(session.command("AUTH", "AUTH LOGIN").await?)?;
    intermediate(session.command("AUTH", &BASE64_STANDARD.encode(username)).await?)?;
    positive(session.command("AUTH", &BASE64_STANDARD.encode(password)).await?)?;
    Ok(())
}

fn positive(reply: Reply) -> Result<Reply, SendError> {
    if reply.is_positive() { Ok(reply) } else { Err(refusal(&reply)) }
}

fn intermediate(reply: Reply) -> Result<Reply, SendError> {
    if reply.is_intermediate() { Ok(reply) } else { Err(refusal(&reply)) }
}

fn refusal(reply: &Reply) -> SendError {
    SendError::MailRefused { status: reply.code, text: reply.text() }
}

/// Writes the domain in ASCII.
fn on_the_wire(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((name, domain)) => format!("{name}@{}", ascii_domain(domain)),
        None => address.to_owned(),
    }
}

pub fn ascii_domain(domain: &str) -> String {
    match Host::parse(domain) {
        Ok(Host::Domain(ascii)) => ascii,
        _ => domain.to_owned(),
    }
}
