//! A receiver of mails: as much of plain SMTP as a client needs without TLS. It keeps each mail.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::connections;
use super::plan::Login;
use super::world::World;

/// Maximum bytes of a line, and of a mail.
const MAX_LINE: usize = 8 << 10;
const MAX_MAIL: usize = 1 << 20;
/// Maximum number of mails that are kept, of recipients of one, and of connections.
const MAX_MAILS: usize = 200;
const MAX_RECIPIENTS: usize = 100;
const MAX_CONNECTIONS: usize = 64;
/// Maximum time without a line.
const MAX_SILENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    pub login: Option<MailLogin>,
    pub from: String,
    pub to: Vec<String>,
    /// Headers and body, as they came, without the dots that SMTP adds.
    pub data: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailLogin {
    /// `PLAIN` or `LOGIN`.
    pub mechanism: &'static str,
    pub username: String,
    pub password: String,
}

#[derive(Default)]
pub(super) struct Mails(Mutex<VecDeque<Mail>>);

impl Mails {
    pub(super) fn all(&self) -> Vec<Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn keep(&self, mail: Mail) {
        let mut mails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mails.push_back(mail);
        while mails.len() > MAX_MAILS {
            mails.pop_front();
        }
    }
}

/// Serves until it is dropped.
pub(super) async fn serve(world: Arc<World>, listener: TcpListener) {
    connections::serve(listener, MAX_CONNECTIONS, |stream| connection(world.clone(), stream)).await;
}

async fn connection(world: Arc<World>, stream: TcpStream) {
    let mut session = Session { world, stream: BufReader::new(stream), envelope: Envelope::default() };
    if let Err(error) = session.run().await {
        tracing::trace!(%error, "media site: SMTP connection ended");
    }
}

struct Session {
    world: Arc<World>,
    stream: BufReader<TcpStream>,
    envelope: Envelope,
}

#[derive(Default)]
struct Envelope {
    login: Option<MailLogin>,
    from: Option<String>,
    to: Vec<String>,
}

impl Session {
    /// Until QUIT, or until the client leaves.
    async fn run(&mut self) -> io::Result<()> {
        self.say("220 localhost ESMTP").await?;
        loop {
            let line = self.line().await?;
            let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match verb.to_ascii_uppercase().as_str() {
                "EHLO" => self.say("250-localhost\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN").await?,
                "HELO" | "NOOP" => self.say("250 OK").await?,
                "AUTH" => self.log_in(rest).await?,
                "MAIL" => self.begin(rest).await?,
                "RCPT" => self.add_recipient(rest).await?,
                "DATA" => self.receive().await?,
                "RSET" => {
                    self.forget();
                    self.say("250 OK").await?;
                }
                "QUIT" => return self.say("221 bye").await,
                _ => self.say("502 command not implemented").await?,
            }
        }
    }

    async fn log_in(&mut self, rest: &str) -> io::Result<()> {
        let (mechanism, first) = rest.split_once(' ').map_or((rest, None), |(name, first)| (name, Some(first)));
        let login = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => self.plain(first).await?,
            "LOGIN" => self.login(first).await?,
            _ => return self.say("504 mechanism not known").await,
        };
        let is_right = match (&self.world.plan.mail_login, &login) {
            (None, given) => given.is_some(),
            (Some(Login { username, password }), Some(given)) => {
                given.username == *username && given.password == *password
            }
            (Some(_), None) => false,
        };
        if !is_right {
            return self.say("535 authentication failed").await;
        }
        self.envelope.login = login;
        self.say("235 welcome").await
    }

    async fn plain(&mut self, first: Option<&str>) -> io::Result<Option<MailLogin>> {
        let coded = match first {
            Some(coded) => coded.to_owned(),
            None => self.ask("334 ").await?,
        };
        let Some(text) = decoded(&coded) else { return Ok(None) };
        let mut parts = text.split('\0').skip(1).map(str::to_owned);
        let (Some(username), Some(password)) = (parts.next(), parts.next()) else { return Ok(None) };
        Ok(Some(MailLogin { mechanism: "PLAIN", username, password }))
    }

    async fn login(&mut self, first: Option<&str>) -> io::Result<Option<MailLogin>> {
        let username = match first {
            Some(coded) => coded.to_owned(),
            None => self.ask("334 VXNlcm5hbWU6").await?,
        };
        let password = self.ask("334 UGFzc3dvcmQ6").await?;
        let (Some(username), Some(password)) = (decoded(&username), decoded(&password)) else { return Ok(None) };
        Ok(Some(MailLogin { mechanism: "LOGIN", username, password }))
    }

    async fn begin(&mut self, rest: &str) -> io::Result<()> {
        if self.world.plan.mail_login.is_some() && self.envelope.login.is_none() {
            return self.say("530 authentication required").await;
        }
        let Some(from) = address(rest, "FROM:") else { return self.say("501 MAIL FROM:<address>").await };
        (self.envelope.from, self.envelope.to) = (Some(from), Vec::new());
        self.say("250 OK").await
    }

    async fn add_recipient(&mut self, rest: &str) -> io::Result<()> {
        if self.envelope.from.is_none() {
            return self.say("503 MAIL first").await;
        }
        if self.envelope.to.len() >= MAX_RECIPIENTS {
            return self.say("452 too many recipients").await;
        }
        let Some(to) = address(rest, "TO:") else { return self.say("501 RCPT TO:<address>").await };
        self.envelope.to.push(to);
        self.say("250 OK").await
    }

    async fn receive(&mut self) -> io::Result<()> {
        let Some(from) = self.envelope.from.clone().filter(|_| !self.envelope.to.is_empty()) else {
            return self.say("503 MAIL and RCPT first").await;
        };
        self.say("354 end with a dot").await?;
        let data = self.data().await?;
        let Envelope { login, to, .. } = &self.envelope;
        self.world.mails.keep(Mail { login: login.clone(), from, to: to.clone(), data });
        self.forget();
        self.say("250 kept").await
    }

    /// Lines up to a dot of its own.
    async fn data(&mut self) -> io::Result<String> {
        let mut data = String::new();
        loop {
            let line = self.line().await?;
            if line == "." {
                return Ok(data);
            }
            if data.len() + line.len() > MAX_MAIL {
                self.say("552 the mail is too large").await?;
                return Err(io::Error::other("the mail is too large"));
            }
            data.push_str(line.strip_prefix('.').unwrap_or(&line));
            data.push_str("\r\n");
        }
    }

    /// All but the login.
    fn forget(&mut self) {
        (self.envelope.from, self.envelope.to) = (None, Vec::new());
    }

    async fn ask(&mut self, challenge: &str) -> io::Result<String> {
        self.say(challenge).await?;
        self.line().await
    }

    async fn say(&mut self, text: &str) -> io::Result<()> {
        self.stream.get_mut().write_all(format!("{text}\r\n").as_bytes()).await
    }

    /// Without its end. An error where the client leaves, or is silent too long.
    async fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        let mut limited = (&mut self.stream).take(MAX_LINE as u64);
        tokio::time::timeout(MAX_SILENCE, limited.read_until(b'\n', &mut line)).await??;
        if line.last() != Some(&b'\n') {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// The address between its brackets, which parameters may follow.
fn address(rest: &str, prefix: &str) -> Option<String> {
    let begin = rest.get(..prefix.len())?;
    let rest = rest[prefix.len()..].trim_start();
    let (address, _) = rest.strip_prefix('<')?.split_once('>')?;
    begin.eq_ignore_ascii_case(prefix).then(|| address.to_owned())
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(BASE64_STANDARD.decode(text.trim()).ok()?).ok()
}
