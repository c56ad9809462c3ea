//! `Session`: a conversation with a mail server, up to the end of a mail.
//!
//! In: commands, and the bytes of a mail. Out: replies, of which the three digits decide (RFC 5321, 4.2): the text behind
//! them may have any bytes, any length, or be missing, and a connection that breaks after them changes nothing. It must not
//! know notifications.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;

use foundation::text::bounded;

const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Maximum time of a command with its reply.
const MAX_STEP_TIME: Duration = Duration::from_secs(60);
/// Maximum time from the end of a mail to its reply: RFC 5321, 4.5.3.2.6.
pub const MAX_END_TIME: Duration = Duration::from_secs(10 * 60);
/// Maximum time from the first digits of a reply to its end; of the last reply, which is over with its digits.
const MAX_REST_TIME: Duration = Duration::from_secs(10);
const MAX_LAST_REST_TIME: Duration = Duration::from_secs(2);
/// Maximum time of QUIT.
const MAX_FAREWELL: Duration = Duration::from_secs(2);
/// Maximum bytes before a reply's digits, and of all of a reply.
const MAX_CHATTER: usize = 64 * 1024;
const MAX_REPLY: usize = 1 << 20;
/// Maximum number of lines of a reply that are kept, and of bytes of each.
const MAX_LINES: usize = 64;
const MAX_LINE: usize = 512;
/// Maximum bytes of a server's text in an error.
const MAX_TEXT: usize = 200;

/// Bytes both ways, in clear or not.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

pub struct Session {
    stream: BufReader<Box<dyn Wire>>,
    /// The rest of a reply has not come: what comes next cannot be distinguished from it.
    is_broken: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub code: u16,
    lines: Vec<Vec<u8>>,
}

#[derive(Debug, Error)]
pub enum SmtpError {
    #[error("cannot be reached: {0}")]
    Connect(String),
    #[error("did not answer {0} in time")]
    Late(&'static str),
    #[error("closed the connection before it answered {step}: {fault}")]
    Ended { step: &'static str, fault: String },
    #[error("does not speak SMTP: it answers {step} with '{text}'")]
    NoReply { step: &'static str, text: String },
    #[error("cannot use TLS: {0}")]
    Tls(String),
    #[error("sent bytes between STARTTLS and TLS, which someone else may have injected: it is not used")]
    Injected,
    #[error("did not finish its last reply, so its next one cannot be read")]
    Unreadable,
}

impl Reply {
    pub fn is_positive(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The server waits for more.
    pub fn is_intermediate(&self) -> bool {
        (300..400).contains(&self.code)
    }

    /// Its text, of one line.
    pub fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(|line| shown(line)).filter(|line| !line.is_empty()).collect();
        bounded(&lines.join(" "), MAX_TEXT)
    }

    /// The words of each line.
    pub fn words(&self) -> impl Iterator<Item = Vec<String>> {
        self.lines.iter().map(|line| shown(line).to_ascii_uppercase().split_whitespace().map(str::to_owned).collect())
    }
}

impl Session {
    /// Connects to the first address that can be connected to.
    pub async fn connect(addresses: &[SocketAddr]) -> Result<Session, SmtpError> {
        let mut fault = "it has no address".to_owned();
        for address in addresses {
            match timeout(MAX_CONNECT_TIME, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(Session::over(Box::new(stream)));
                }
                Ok(Err(error)) => fault = error.to_string(),
                Err(_) => fault = "it does not answer".to_owned(),
            }
        }
        Err(SmtpError::Connect(fault))
    }

    fn over(stream: Box<dyn Wire>) -> Session {
        Session { stream: BufReader::new(stream), is_broken: false }
    }

    /// Continues in TLS.
    pub async fn secure(self, tls: ClientConfig, server: &str) -> Result<Session, SmtpError> {
        if !self.stream.buffer().is_empty() {
            return Err(SmtpError::Injected);
        }
        let name = server.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(name).map_err(|error| SmtpError::Tls(error.to_string()))?;
        let connected = TlsConnector::from(Arc::new(tls)).connect(name, self.stream.into_inner());
        let connected = timeout(MAX_STEP_TIME, connected).await.map_err(|_| SmtpError::Late("TLS"))?;
        let stream = connected.map_err(|error| SmtpError::Tls(error.to_string()))?;
        Ok(Session::over(Box::new(stream)))
    }

    /// The server's first words.
    pub async fn greeting(&mut self) -> Result<Reply, SmtpError> {
        self.reply("the connection", MAX_STEP_TIME, MAX_REST_TIME).await
    }

    /// Sends a line and reads its reply. `step`: how errors name it; the line may be a secret.
    pub async fn command(&mut self, step: &'static str, line: &str) -> Result<Reply, SmtpError> {
        if self.is_broken {
            return Err(SmtpError::Unreadable);
        }
        let sent = self.write(format!("{line}\r\n").as_bytes()).await;
        match sent {
            Ok(()) => self.reply(step, MAX_STEP_TIME, MAX_REST_TIME).await,
            // a server that leaves may have said why
            Err(fault) => {
                let reply = self.reply(step, MAX_FAREWELL, MAX_FAREWELL).await;
                reply.map_err(|_| SmtpError::Ended { step, fault: fault.to_string() })
            }
        }
    }

    /// Sends a mail after DATA, up to its end, and waits for the reply. `begin_end` is called just before the end is sent:
    /// from then on the server may have the mail.
    pub async fn mail(&mut self, mail: &[u8], begin_end: impl FnOnce()) -> Result<Reply, SmtpError> {
        const STEP: &str = "the mail";
        if self.is_broken {
            return Err(SmtpError::Unreadable);
        }
        let sent = match self.write(&stuffed(mail)).await {
            Ok(()) => {
                begin_end();
                self.write(b".\r\n").await
            }
            failed => failed,
        };
        let patience = if sent.is_ok() { MAX_END_TIME } else { MAX_FAREWELL };
        let reply = self.reply(STEP, patience, MAX_LAST_REST_TIME).await;
        match sent {
            Err(fault) => reply.map_err(|_| SmtpError::Ended { step: STEP, fault: fault.to_string() }),
            Ok(()) => reply,
        }
    }

    /// Leaves. The server's answer changes nothing.
    pub async fn quit(mut self) {
        if self.is_broken {
            return;
        }
        let farewell = async {
            self.write(b"QUIT\r\n").await?;
            self.stream.get_mut().shutdown().await?;
            self.stream.fill_buf().await.map(<[u8]>::len)
        };
        let _ = timeout(MAX_FAREWELL, farewell).await;
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.stream.get_mut();
        let sent = async {
            stream.write_all(bytes).await?;
            stream.flush().await
        };
        timeout(MAX_STEP_TIME, sent).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// `rest`: the time that the text may take after the digits.
    async fn reply(&mut self, step: &'static str, within: Duration, rest: Duration) -> Result<Reply, SmtpError> {
        let mut reading = Reading::default();
        let mut until = Instant::now() + within;
        loop {
            let read = match timeout_at(until, self.stream.fill_buf()).await {
                Ok(Ok([])) => Err(SmtpError::Ended { step, fault: "it says nothing more".to_owned() }),
                Ok(Ok(bytes)) => Ok(reading.take(bytes)),
                Ok(Err(fault)) => Err(SmtpError::Ended { step, fault: fault.to_string() }),
                Err(_) => Err(SmtpError::Late(step)),
            };
            let had_code = reading.had_code;
            match read {
                Ok(taken) => self.stream.consume(taken),
                Err(fault) => {
                    self.is_broken = true;
                    reading.end();
                    return reading.reply.ok_or(fault);
                }
            }
            if reading.is_whole {
                return reading.reply.ok_or(SmtpError::Unreadable);
            }
            match &reading.reply {
                None if reading.bytes > MAX_CHATTER => return Err(reading.chatter(step)),
                Some(reply) if reading.bytes > MAX_REPLY => {
                    self.is_broken = true;
                    return Ok(reply.clone());
                }
                Some(_) if !had_code => {
                    reading.had_code = true;
                    until = Instant::now() + rest;
                }
                _ => {}
            }
        }
    }
}

/// A reply as its bytes come. A line that does not belong to a reply is left out.
#[derive(Default)]
struct Reading {
    reply: Option<Reply>,
    is_whole: bool,
    had_code: bool,
    /// All that came so far.
    bytes: usize,
    /// The beginning of the line that has not ended.
    line: Vec<u8>,
    /// The line's place in the reply's lines, once it has a code.
    is_known: bool,
    is_last: bool,
    first_chatter: Vec<u8>,
}

impl Reading {
    /// Returns the number of bytes that belong to the reply.
    fn take(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            self.bytes += 1;
            if *byte == b'\n' {
                self.end_line();
                if self.is_whole {
                    return at + 1;
                }
                continue;
            }
            if self.line.len() < MAX_LINE {
                self.line.push(*byte);
            }
            if self.line.len() == CODE_WITH_NEXT && !self.is_known {
                self.know();
            }
        }
        bytes.len()
    }

    /// Notes that no more bytes come.
    fn end(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        if !self.is_known {
            self.know();
        }
        let line = std::mem::take(&mut self.line);
        let (is_known, is_last) = (self.is_known, self.is_last);
        (self.is_known, self.is_last) = (false, false);
        match &mut self.reply {
            Some(reply) if is_known => {
                if reply.lines.len() < MAX_LINES {
                    reply.lines.push(line.get(CODE_WITH_NEXT..).unwrap_or_default().to_vec());
                }
                self.is_whole = is_last;
            }
            _ if self.first_chatter.is_empty() => self.first_chatter = line,
            _ => {}
        }
    }

    /// Reads the digits of the line, if it has some.
    fn know(&mut self) {
        let Some((code, is_last)) = code(&self.line) else { return };
        self.reply.get_or_insert_default().code = code;
        (self.is_known, self.is_last) = (true, is_last);
    }

    fn chatter(&self, step: &'static str) -> SmtpError {
        let text = if self.first_chatter.is_empty() { &self.line } else { &self.first_chatter };
        SmtpError::NoReply { step, text: bounded(&shown(text), MAX_TEXT) }
    }
}

/// Three digits and what follows them.
const CODE_WITH_NEXT: usize = 4;

/// The code at the beginning of a line, and whether this is the last line of its reply.
fn code(line: &[u8]) -> Option<(u16, bool)> {
    let (digits, rest) = line.split_at_checked(3)?;
    let is_code = digits.iter().all(u8::is_ascii_digit) && (b'2'..=b'5').contains(&digits[0]);
    if !is_code || rest.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let code = digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
    Some((code, rest.first() != Some(&b'-')))
}

/// The lines of a mail as SMTP carries them: each ends with CRLF, and one that begins with a dot has a second one.
fn stuffed(mail: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::with_capacity(mail.len() + 64);
    let lines = mail.strip_suffix(b"\n").unwrap_or(mail).split(|byte| *byte == b'\n');
    for line in lines {
        if line.first() == Some(&b'.') {
            stuffed.push(b'.');
        }
        stuffed.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        stuffed.extend_from_slice(b"\r\n");
    }
    stuffed
}

/// Readable, of one line.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::{RootCertStore, ServerConfig};
    use tokio::io::duplex;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    fn session(bytes: &[u8]) -> Session {
        let (here, mut there) = duplex(4 << 20);
        let bytes = bytes.to_vec();
        tokio::spawn(async move { there.write_all(&bytes).await });
        Session::over(Box::new(here))
    }

    #[rstest]
    #[case::usual(b"250 OK\r\n", Some((250, "OK")))]
    #[case::latin_1(b"250 angenommen f\xfcr sp\xe4ter\r\n", Some((250, "angenommen f\u{fffd}r sp\u{fffd}ter")))]
    #[case::no_text(b"250\r\n", Some((250, "")))]
    #[case::a_blank_alone(b"250 \r\n", Some((250, "")))]
    #[case::a_line_feed_alone(b"250 OK\n", Some((250, "OK")))]
    #[case::several_lines(b"250-first\r\n250 second\r\n", Some((250, "first second")))]
    #[case::several_lines_without_text(b"250-\r\n250\r\n", Some((250, "")))]
    #[case::a_tab(b"250\tOK\r\n", Some((250, "OK")))]
    #[case::control_bytes(b"250 \x00\x07\x1b[0m\r\n", Some((250, "[0m")))]
    #[case::cut_in_the_text(b"250 O", Some((250, "O")))]
    #[case::cut_after_the_digits(b"250", Some((250, "")))]
    #[case::cut_in_the_second_line(b"250-first\r\n25", Some((250, "first")))]
    #[case::cut_in_the_digits(b"25", None)]
    #[case::nothing(b"", None)]
    #[case::a_line_in_front(b"warning: disk\r\n250 OK\r\n", Some((250, "OK")))]
    #[case::a_line_without_digits_between(b"250-a\r\nodd\r\n250 b\r\n", Some((250, "a b")))]
    #[case::four_digits(b"2500 OK\r\n", None)]
    #[case::no_code_of_smtp(b"999 OK\r\n", None)]
    #[case::refused(b"554 no\r\n", Some((554, "no")))]
    #[tokio::test]
    async fn the_digits_of_a_reply_decide(#[case] bytes: &[u8], #[case] expected: Option<(u16, &str)>) {
        let reply = session(bytes).greeting().await.ok();
        let read = reply.as_ref().map(|reply| (reply.code, reply.text()));
        assert_eq!(read.as_ref().map(|(code, text)| (*code, text.as_str())), expected);
    }

    #[rstest]
    #[case::one_long_line([b"250 ".as_slice(), &[b'x'; 2 << 20]].concat())]
    #[case::lines_without_end(b"250-x\r\n".repeat(400_000))]
    #[tokio::test]
    async fn a_text_without_end_is_bounded_and_its_digits_count(#[case] bytes: Vec<u8>) {
        let mut session = session(&bytes);
        let reply = session.greeting().await.unwrap();
        assert_eq!(reply.code, 250);
        assert!(reply.text().len() <= MAX_TEXT && reply.lines.len() <= MAX_LINES);
        assert!(matches!(session.command("NOOP", "NOOP").await, Err(SmtpError::Unreadable)));
    }

    #[tokio::test]
    async fn chatter_without_digits_is_bounded_and_shown() {
        let error = session(&b"HTTP/1.1 400 Bad Request\r\n".repeat(10_000)).greeting().await.unwrap_err();
        assert!(error.to_string().contains("HTTP/1.1 400 Bad Request"), "{error}");
    }

    #[tokio::test]
    async fn two_replies_that_come_together_are_two() {
        let mut session = session(b"220 hello\r\n250 OK\r\n");
        assert_eq!(session.greeting().await.unwrap().code, 220);
        assert_eq!(session.command("NOOP", "NOOP").await.unwrap().code, 250);
    }

    #[tokio::test]
    async fn bytes_before_tls_are_not_taken_for_its_own() {
        let mut session = session(b"220 go ahead\r\n250 planted\r\n");
        session.greeting().await.unwrap();
        let tls = foundation::authorities::client(None).unwrap();
        assert!(matches!(session.secure(tls, "mail.example.org").await, Err(SmtpError::Injected)));
    }

    #[tokio::test]
    async fn a_session_goes_on_in_tls_with_the_server_that_it_knows() {
        let issued = rcgen::generate_simple_self_signed(["mail.example.org".to_owned()]).unwrap();
        let (certificate, key) = (issued.cert.der().clone(), issued.signing_key.serialize_der());
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let client = client.unwrap().with_root_certificates(roots).with_no_client_auth();
        let server = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let server = server.with_no_client_auth().with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key.into()));
        let acceptor = TlsAcceptor::from(Arc::new(server.unwrap()));

        for (name, is_known) in [("mail.example.org", true), ("other.example.org", false)] {
            let (here, mut there) = duplex(1 << 16);
            let acceptor = acceptor.clone();
            let served = tokio::spawn(async move {
                there.write_all(b"220 go ahead\r\n").await?;
                let mut stream = BufReader::new(acceptor.accept(there).await?);
                let mut line = String::new();
                stream.read_line(&mut line).await?;
                stream.write_all(b"250-hello\r\n250 AUTH plain LOGIN\r\n").await?;
                stream.flush().await?;
                io::Result::Ok(line)
            });
            let mut session = Session::over(Box::new(here));
            session.greeting().await.unwrap();
            let secured = session.secure(client.clone(), name).await;
            assert_eq!(secured.is_ok(), is_known, "{name}");
            let Ok(mut session) = secured else { continue };
            let reply = session.command("EHLO", "EHLO me").await.unwrap();
            assert_eq!(reply.words().last().unwrap(), ["AUTH", "PLAIN", "LOGIN"]);
            assert_eq!(served.await.unwrap().unwrap(), "EHLO me\r\n");
        }
    }

    #[rstest]
    #[case::dots(b".\r\n..a\r\nb.\r\n", b"..\r\n...a\r\nb.\r\n")]
    #[case::line_feeds_alone(b"a\n\nb", b"a\r\n\r\nb\r\n")]
    fn a_line_of_a_mail_is_no_end_of_it(#[case] mail: &[u8], #[case] sent: &[u8]) {
        assert_eq!(stuffed(mail), sent);
    }
}
