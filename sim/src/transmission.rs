//! `Transmission`: an answer put on an HTTP/1.1 connection as no server should put it there, byte by byte.
//!
//! In: a connection from which a request was read, and the body that a whole answer would have. Out: bytes, pauses, an end. The caller
//! gets here by an error of the service, which carries the answer past the HTTP server.

use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::encoding::Coding;

/// Between two bytes of what comes drop by drop.
const DRIP: Duration = Duration::from_millis(20);
/// More than any client should read of a head.
const HUGE: usize = 4 << 20;
const BLOCK: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// The head comes byte by byte and has no end.
    SlowHead,
    /// The head at once, the body byte by byte.
    SlowBody,
    /// Half of the body, and then nothing more.
    Stalled,
    /// A Content-Length of half the body, all of which comes.
    ShortLength,
    /// After a good chunk one whose size is no number.
    BrokenChunks,
    /// Chunks, and the end of the connection where the last one is due.
    UnendedChunks,
    /// A head of four megabytes in one field.
    HugeHead,
    /// A head of a hundred thousand fields.
    ManyFields,
    /// Not HTTP at all.
    Garbage,
    /// Chunks, and a Content-Length that says less.
    LengthAndChunks,
    /// Two lengths, neither of which is a lie alone.
    TwoLengths,
    /// The whole answer, and behind it a second one that nobody asked for: a menu without products.
    UnaskedAnswer,
    /// The whole answer; then the connection ends although it was to be kept.
    ThenClosed,
    /// An answer of that status, with the menu as its body or without one.
    Status { status: u16, with_body: bool },
}

impl Transmission {
    fn afterwards(self) -> Afterwards {
        match self {
            Transmission::UnendedChunks | Transmission::Garbage | Transmission::ThenClosed => Afterwards::Close,
            Transmission::SlowBody
            | Transmission::Status { with_body: false, .. }
            | Transmission::Status { status: 203 | 205 | 206, .. } => Afterwards::Serve,
            _ => Afterwards::Watch,
        }
    }
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    Close,
    /// It is in order, and carries the next request.
    Serve,
    /// Nobody can know where the next answer begins: a client must not use it again.
    Watch,
}

/// What is sent instead of an answer.
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

    pub(crate) async fn send(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<Afterwards> {
        let RawAnswer { how, body, .. } = self;
        let (half, length) = (body.slice(..body.len() / 2), body.len());
        let whole = [self.head(200, &length_field(length)).as_slice(), body].concat();
        match how {
            Transmission::SlowHead => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ").await?;
                drip(stream, std::iter::repeat(b'a')).await?;
            }
            Transmission::SlowBody => {
                stream.write_all(&self.head(200, &length_field(length))).await?;
                drip(stream, body.iter().copied()).await?;
            }
            Transmission::Stalled => {
                stream.write_all(&[self.head(200, &length_field(length)).as_slice(), &half].concat()).await?;
            }
            Transmission::ShortLength => {
                stream.write_all(&[self.head(200, &length_field(half.len())).as_slice(), body].concat()).await?;
            }
            Transmission::BrokenChunks => {
                stream
                    .write_all(&[self.head(200, CHUNKED).as_slice(), &chunk(&half), b"zz\r\n", body].concat())
                    .await?;
            }
            Transmission::UnendedChunks => {
                stream.write_all(&[self.head(200, CHUNKED).as_slice(), &chunk(body)].concat()).await?;
            }
            Transmission::HugeHead => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nX-Huge: ").await?;
                for _ in 0..HUGE / BLOCK {
                    stream.write_all(&vec![b'a'; BLOCK]).await?;
                }
                stream.write_all(&[b"\r\n", &whole["HTTP/1.1 200 OK\r\n".len()..]].concat()).await?;
            }
            Transmission::ManyFields => {
                let fields = "X-Many: a\r\n".repeat(100_000);
                stream.write_all(&[self.head(200, &fields).as_slice(), body].concat()).await?;
            }
            Transmission::Garbage => stream.write_all(b"220 mail.test ESMTP\r\n\r\n").await?,
            Transmission::LengthAndChunks => {
                let head = self.head(200, &format!("{CHUNKED}{}", length_field(half.len())));
                stream.write_all(&[head.as_slice(), &chunk(body), b"0\r\n\r\n"].concat()).await?;
            }
            Transmission::TwoLengths => {
                let lengths = [length_field(length), length_field(half.len())].concat();
                stream.write_all(&[self.head(200, &lengths).as_slice(), body].concat()).await?;
            }
            Transmission::UnaskedAnswer => stream.write_all(&[whole.as_slice(), &empty_menu()].concat()).await?,
            Transmission::ThenClosed => stream.write_all(&whole).await?,
            Transmission::Status { status, with_body: true } => {
                stream.write_all(&[self.head(*status, &length_field(length)).as_slice(), body].concat()).await?;
            }
            Transmission::Status { status, with_body: false } => {
                let length = if *status > 204 && *status < 300 { "Content-Length: 0\r\n" } else { "" };
                stream.write_all(&self.head(*status, length)).await?;
            }
        }
        stream.flush().await?;
        Ok(how.afterwards())
    }

    /// With these fields beside those that every answer has.
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
