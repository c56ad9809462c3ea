//! `Transmission`: an answer put on an HTTP/1.1 connection as no server should put it there, byte by byte.
//!
//! In: a connection from which a request was read, and the body that a whole answer would have. Out: bytes,
//! pauses, an end. The caller gets here by an error of the service, which carries the answer past the HTTP
//! server.

use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::encoding::Coding;

/// Pause between two bytes of an answer that comes drop by drop.
const DRIP: Duration = Duration::from_millis(20);
/// Size that is larger than any client should read of a head.
const HUGE: usize = 4 << 20;
const MANY: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// The head comes byte by byte and has no end.
    SlowHead,
    /// The head at once, the body byte by byte.
    SlowBody,
    /// Half of the body comes, and then nothing more.
    Stalled,
    /// A Content-Length of half the body, all of which comes.
    ShortLength,
    /// A good chunk, and after it one whose size is not a number.
    BrokenChunks,
    /// Chunks, and the end of the connection where the last one is due.
    UnendedChunks,
    /// A head of four megabytes in one field.
    HugeHead,
    /// A head of a hundred thousand fields.
    ManyFields,
    /// Bytes that are not HTTP.
    Garbage,
    /// Chunks, and a Content-Length that says less.
    LengthAndChunks,
    /// Two lengths, neither of which is wrong alone.
    TwoLengths,
    /// The whole answer, and behind it an unrequested second one: a menu without products.
    UnaskedAnswer,
    /// The whole answer; then the connection ends although it was to be kept.
    ThenClosed,
    /// An answer of that status, with the menu as its body or without one.
    Status { status: u16, with_body: bool },
}

impl Transmission {
    pub const ALL: [Transmission; 22] = [
        Transmission::SlowHead,
        Transmission::SlowBody,
        Transmission::Stalled,
        Transmission::ShortLength,
        Transmission::BrokenChunks,
        Transmission::UnendedChunks,
        Transmission::HugeHead,
        Transmission::ManyFields,
        Transmission::Garbage,
        Transmission::LengthAndChunks,
        Transmission::TwoLengths,
        Transmission::UnaskedAnswer,
        Transmission::ThenClosed,
        Transmission::Status { status: 203, with_body: true },
        Transmission::Status { status: 204, with_body: false },
        Transmission::Status { status: 204, with_body: true },
        Transmission::Status { status: 205, with_body: false },
        Transmission::Status { status: 205, with_body: true },
        Transmission::Status { status: 206, with_body: false },
        Transmission::Status { status: 206, with_body: true },
        Transmission::Status { status: 304, with_body: false },
        Transmission::Status { status: 304, with_body: true },
    ];

    /// A whole answer by the rules that HTTP has for such a case.
    pub fn is_whole_answer(self) -> bool {
        matches!(self, Transmission::LengthAndChunks | Transmission::UnaskedAnswer | Transmission::ThenClosed)
    }

    fn connection_use(self) -> ConnectionUse {
        match self {
            Transmission::UnendedChunks | Transmission::Garbage | Transmission::ThenClosed => ConnectionUse::Close,
            Transmission::SlowBody
            | Transmission::Status { with_body: false, .. }
            | Transmission::Status { status: 203 | 205 | 206, .. } => ConnectionUse::Serve,
            _ => ConnectionUse::Watch,
        }
    }
}

/// Further use of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionUse {
    Close,
    /// The connection is in order, and carries the next request.
    Serve,
    /// The beginning of the next answer is unknown: a client must not use the connection again.
    Watch,
}

/// Bytes that are sent instead of an answer.
#[derive(Debug)]
pub(crate) struct RawAnswer {
    pub(crate) how: Transmission,
    pub(crate) coding: Option<Coding>,
    pub(crate) body: Bytes,
}

impl std::error::Error for RawAnswer {}

impl fmt::Display for RawAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an answer past HTTP: {:?}", self.how)
    }
}

impl RawAnswer {
    /// The answer that ended an HTTP server's connection.
    pub(crate) fn of(ended: &hyper::Error) -> Option<RawAnswer> {
        let cause = std::error::Error::source(ended)?.downcast_ref::<io::Error>()?;
        let RawAnswer { how, coding, body } = cause.get_ref()?.downcast_ref::<RawAnswer>()?;
        Some(RawAnswer { how: *how, coding: *coding, body: body.clone() })
    }

    pub(crate) async fn send(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<ConnectionUse> {
        match self.how {
            Transmission::SlowHead => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ").await?;
                drip(stream, std::iter::repeat(b'a')).await?;
            }
            Transmission::SlowBody => {
                stream.write_all(&self.head(200, &length_field(self.body.len()))).await?;
                drip(stream, self.body.iter().copied()).await?;
            }
            how => stream.write_all(&self.bytes(how)).await?,
        }
        stream.flush().await?;
        Ok(self.how.connection_use())
    }

    /// All that is sent at once.
    fn bytes(&self, how: Transmission) -> Vec<u8> {
        let (body, half) = (self.body.as_ref(), &self.body[..self.body.len() / 2]);
        let (length, half_length) = (length_field(body.len()), length_field(half.len()));
        match how {
            Transmission::SlowHead | Transmission::SlowBody | Transmission::ThenClosed => self.with(&length, &[body]),
            Transmission::Stalled => self.with(&length, &[half]),
            Transmission::ShortLength => self.with(&half_length, &[body]),
            Transmission::BrokenChunks => self.with(CHUNKED, &[&chunk(half), b"zz\r\n", body]),
            Transmission::UnendedChunks => self.with(CHUNKED, &[&chunk(body)]),
            Transmission::HugeHead => self.with(&format!("X-Huge: {}\r\n{length}", "a".repeat(HUGE)), &[body]),
            Transmission::ManyFields => self.with(&"X-Many: a\r\n".repeat(MANY), &[body]),
            Transmission::Garbage => b"220 mail.test ESMTP\r\n\r\n".to_vec(),
            Transmission::LengthAndChunks => {
                self.with(&format!("{CHUNKED}{half_length}"), &[&chunk(body), b"0\r\n\r\n"])
            }
            Transmission::TwoLengths => self.with(&format!("{length}{half_length}"), &[body]),
            Transmission::UnaskedAnswer => self.with(&length, &[body, &empty_menu()]),
            Transmission::Status { status, with_body: true } => [self.head(status, &length).as_slice(), body].concat(),
            Transmission::Status { status, with_body: false } => self.head(status, length_of_nothing(status)),
        }
    }

    /// A head with these fields, and the bytes after it.
    fn with(&self, fields: &str, rest: &[&[u8]]) -> Vec<u8> {
        [self.head(200, fields).as_slice(), &rest.concat()].concat()
    }

    /// The head with `fields` beside the fields that every answer has.
    fn head(&self, status: u16, fields: &str) -> Vec<u8> {
        let coding = self.coding.map(|coding| format!("Content-Encoding: {}\r\n", coding.name())).unwrap_or_default();
        let reason = if status == 200 { "OK" } else { "Odd" };
        format!("HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\n{coding}{fields}\r\n").into_bytes()
    }
}

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

fn length_field(length: usize) -> String {
    format!("Content-Length: {length}\r\n")
}

/// The length field of an answer that could have a body and has none.
fn length_of_nothing(status: u16) -> &'static str {
    if (205..300).contains(&status) { "Content-Length: 0\r\n" } else { "" }
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

fn empty_menu() -> Vec<u8> {
    let body = r#"{"data":{"filteredProducts":{"products":[],"queryInfo":{"totalCount":0,"totalPages":0}}}}"#;
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// Ends with its bytes, or with a client that leaves.
async fn drip(stream: &mut (impl AsyncWrite + Unpin), bytes: impl Iterator<Item = u8>) -> io::Result<()> {
    for byte in bytes {
        stream.write_all(&[byte]).await?;
        stream.flush().await?;
        tokio::time::sleep(DRIP).await;
    }
    Ok(())
}
