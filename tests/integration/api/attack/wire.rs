//! `Wire`: a client that sends bytes as they are, and reads the answer's bytes. Every answer must have safe
//! headers, and a refusal its reason, unless the HTTP library itself refuses a head that it cannot read.

use std::net::SocketAddr;
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{assert_safe_headers, leaks};

/// Maximum time, longer than a server waits for anything.
const PATIENCE: Duration = Duration::from_secs(30);
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

pub struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
    /// The bytes sent first, for messages.
    sent: String,
}

pub struct WireAnswer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Wire {
    pub async fn connect(address: SocketAddr) -> Wire {
        Wire { stream: TcpStream::connect(address).await.unwrap(), received: Vec::new(), sent: String::new() }
    }

    /// A connection on which these bytes were sent.
    pub async fn with(address: SocketAddr, bytes: impl AsRef<[u8]>) -> Wire {
        let mut wire = Wire::connect(address).await;
        // the server may refuse before it has all of it
        let _ = wire.send(bytes).await;
        wire
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        if self.sent.is_empty() {
            self.sent = String::from_utf8_lossy(bytes.as_ref()).chars().take(200).collect();
        }
        tokio::time::timeout(PATIENCE, self.stream.write_all(bytes.as_ref())).await.expect("the server reads")
    }

    /// The client has said all.
    pub async fn finish(&mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// The next answer; None where the server closes instead.
    pub async fn answer(&mut self) -> Option<WireAnswer> {
        let end = loop {
            match find(&self.received, END_OF_HEAD) {
                Some(end) => break end + END_OF_HEAD.len(),
                None => self.read().await.then_some(())?,
            }
        };
        let head = String::from_utf8(self.received.drain(..end).collect()).unwrap();
        let length = field(&head, "content-length").map_or(0, |length| length.parse().unwrap());
        while self.received.len() < length && self.read().await {}
        let body: Vec<u8> = self.received.drain(..length.min(self.received.len())).collect();
        let (body, status) = (String::from_utf8(body).unwrap(), head[9..12].parse().unwrap());
        leaks::assert_none(&self.sent, &head);
        leaks::assert_none(&self.sent, &body);
        let answer = WireAnswer { status, head, body };
        answer.assert_complete(&self.sent);
        Some(answer)
    }

    /// The status of the next answer; None where the server closes instead.
    pub async fn status(&mut self) -> Option<u16> {
        self.answer().await.map(|answer| answer.status)
    }

    /// Whether the server closes, and sends nothing more.
    pub async fn is_closed(&mut self) -> bool {
        self.received.is_empty() && !self.read().await
    }

    async fn read(&mut self) -> bool {
        let read = tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.received)).await;
        let read = read.unwrap_or_else(|_| panic!("neither an answer nor an end to {:?}", self.sent));
        read.is_ok_and(|bytes| bytes > 0)
    }
}

impl WireAnswer {
    pub fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }

    /// Whether the HTTP library refused, before any code of ours: a status, and no field but its own.
    pub fn is_bare(&self) -> bool {
        let mut fields = self.head.split("\r\n").filter_map(|line| line.split_once(": "));
        matches!(self.status, 400 | 414 | 431)
            && self.body.is_empty()
            && fields.all(|(name, _)| ["connection", "content-length", "date"].contains(&name))
    }

    #[track_caller]
    fn assert_complete(&self, what: &str) {
        if self.is_bare() {
            return;
        }
        let fields = self.head.split("\r\n").filter_map(|line| line.split_once(": "));
        let headers: HeaderMap =
            fields.map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect();
        assert_safe_headers(what, &headers);
        if self.status >= 400 {
            assert_eq!(self.field("content-type"), Some("application/problem+json"), "{what}");
            assert!(self.body.contains(&format!("\"status\":{}", self.status)), "{what}: {}", self.body);
        }
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.split("\r\n").filter_map(|line| line.split_once(": "));
    fields.into_iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
