//! A receiver of mails: as much of plain SMTP as a client needs without TLS. It keeps each mail.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::connections;
use super::plan::Login;
use super::raw_receiver::AfterAnswer;
use super::world::World;

/// Maximum bytes of a line, and of a mail.
const MAX_LINE: usize = 8 << 10;
const MAX_MAIL: usize = 1 << 20;
/// Maximum number of mails that are kept, of recipients of one, and of connections.
const MAX_MAILS: usize = 200;
const MAX_RECIPIENTS: usize = 100;
const MAX_ASKED: usize = 1_000;
const MAX_CONNECTIONS: usize = 64;
/// Maximum time before a scripted reply.
const MAX_WAIT: Duration = Duration::from_secs(60);
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

/// Replies of the receiver, as bytes; without a script each is the usual one.
#[derive(Clone, Debug, Default)]
pub struct MailScript {
    /// Replies in place of the usual one to each command of this verb, such as `EHLO`; to the connection itself: `CONNECT`.
    pub replies: BTreeMap<&'static str, Vec<u8>>,
    /// Replies for a recipient, one after the other; it is taken afterwards.
    pub recipients: BTreeMap<String, VecDeque<Vec<u8>>>,
    /// Endings after the end of DATA, one a mail.
    pub endings: VecDeque<MailEnding>,
}

/// An answer to the end of DATA. The mail is kept unless its reply begins with 4 or 5.
#[derive(Clone, Debug)]
pub struct MailEnding {
    /// Pause before the reply, at most a minute.
    pub wait: Duration,
    /// Reply with its line end, where it has one.
    pub reply: Vec<u8>,
    pub then: AfterAnswer,
}

impl MailEnding {
    pub fn new(reply: impl Into<Vec<u8>>, then: AfterAnswer) -> MailEnding {
        MailEnding { wait: Duration::ZERO, reply: reply.into(), then }
    }

    fn is_taken(&self) -> bool {
        !matches!(self.reply.first(), Some(b'4' | b'5'))
    }
}

#[derive(Default)]
pub(super) struct Mails(Mutex<Received>);

#[derive(Default)]
struct Received {
    script: MailScript,
    mails: VecDeque<Mail>,
    /// Recipients of each RCPT, taken or not.
    asked: VecDeque<String>,
}

impl Mails {
    pub(super) fn all(&self) -> Vec<Mail> {
        self.lock().mails.iter().cloned().collect()
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.lock().asked.iter().cloned().collect()
    }

    pub(super) fn script(&self, script: MailScript) {
        self.lock().script = script;
    }

    fn keep(&self, mail: Mail) {
        let mails = &mut self.lock().mails;
        mails.push_back(mail);
        while mails.len() > MAX_MAILS {
            mails.pop_front();
        }
    }

    fn reply(&self, verb: &str) -> Option<Vec<u8>> {
        self.lock().script.replies.get(verb).cloned()
    }

    fn next_ending(&self) -> Option<MailEnding> {
        self.lock().script.endings.pop_front()
    }

    /// Notes that it was asked for; None: it is taken.
    fn reply_to_recipient(&self, address: &str) -> Option<Vec<u8>> {
        let mut received = self.lock();
        received.asked.push_back(address.to_owned());
        while received.asked.len() > MAX_ASKED {
            received.asked.pop_front();
        }
        received.script.recipients.get_mut(address)?.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Replies until QUIT, or until the client leaves.
    async fn run(&mut self) -> io::Result<()> {
        match self.world.mails.reply("CONNECT") {
            Some(reply) => self.say_bytes(&reply).await?,
            None => self.say("220 localhost ESMTP").await?,
        }
        loop {
            let line = self.line().await?;
            let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
            let verb = verb.to_ascii_uppercase();
            if let Some(reply) = self.world.mails.reply(&verb) {
                self.obey(&verb, rest);
                self.say_bytes(&reply).await?;
                continue;
            }
            match verb.as_str() {
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
        if let Some(reply) = self.world.mails.reply_to_recipient(&to) {
            if reply.first() == Some(&b'2') {
                self.envelope.to.push(to);
            }
            return self.say_bytes(&reply).await;
        }
        self.envelope.to.push(to);
        self.say("250 OK").await
    }

    async fn receive(&mut self) -> io::Result<()> {
        let Some(from) = self.envelope.from.clone().filter(|_| !self.envelope.to.is_empty()) else {
            return self.say("503 MAIL and RCPT first").await;
        };
        self.say("354 end with a dot").await?;
        let data = self.data().await?;
        let ending = self.world.mails.next_ending();
        let ending = ending.unwrap_or_else(|| MailEnding::new("250 kept\r\n", AfterAnswer::GoOn));
        if ending.is_taken() {
            let Envelope { login, to, .. } = &self.envelope;
            self.world.mails.keep(Mail { login: login.clone(), from, to: to.clone(), data });
        }
        self.forget();
        tokio::time::sleep(ending.wait.min(MAX_WAIT)).await;
        self.say_bytes(&ending.reply).await?;
        self.end(&ending).await
    }

    /// An error ends the connection.
    async fn end(&mut self, ending: &MailEnding) -> io::Result<()> {
        match ending.then {
            AfterAnswer::GoOn => return Ok(()),
            AfterAnswer::Close => {}
            AfterAnswer::Reset => self.stream.get_ref().set_zero_linger()?,
            AfterAnswer::Silence => tokio::time::sleep(MAX_WAIT).await,
            AfterAnswer::Endless => loop {
                let last = ending.reply.last().copied().unwrap_or(b' ');
                self.say_bytes(&[last; 1024]).await?;
            },
        }
        Err(io::Error::other("the script ends the connection"))
    }

    /// The effect of a command whose reply comes from the script.
    fn obey(&mut self, verb: &str, rest: &str) {
        if verb == "MAIL" {
            (self.envelope.from, self.envelope.to) = (address(rest, "FROM:"), Vec::new());
        }
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
        self.say_bytes(format!("{text}\r\n").as_bytes()).await
    }

    async fn say_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes).await
    }

    /// Reads a line without its end. An error where the client leaves, or is silent too long.
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
