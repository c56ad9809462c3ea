//! `FramingCheck`: a stream of HTTP/1 that ends where an answer's Content-Length or Transfer-Encoding is malformed.
//!
//! The HTTP reader skips header lines that it cannot read, as browsers do. Without one of these two it would take a wrong end
//! for the answer's. In: the bytes of a connection. Out: the same bytes, or an error. It must not know their meaning otherwise.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];
/// The part of a line that is kept.
const MAX_LINE_BYTES: usize = 1024;

pub struct FramingCheck<S> {
    stream: S,
    head: Head,
}

/// The part that was read of the head of an answer.
#[derive(Debug, Default)]
struct Head {
    is_over: bool,
    /// An interim answer, which another head follows.
    is_interim: bool,
    /// Number of lines before this one.
    lines: usize,
    /// Whether the line before, which this one may continue, frames the body.
    frames: bool,
    line: Vec<u8>,
}

impl<S> FramingCheck<S> {
    pub fn new(stream: S) -> FramingCheck<S> {
        FramingCheck { stream, head: Head::default() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FramingCheck<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            // TLS without close_notify: the length of the answer says whether it is whole, as for browsers
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            result => result,
        };
        match self.head.read(buffer.filled().get(before..).unwrap_or_default()) {
            Ok(()) => result,
            Err(name) => {
                let fault = format!("the answer's {name} is malformed");
                Poll::Ready(Err(io::Error::new(ErrorKind::InvalidData, fault)))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FramingCheck<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.head.expect_next();
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.head.expect_next();
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: Connection> Connection for FramingCheck<S> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

impl Head {
    /// A request is written when the answer before it was read: a head follows.
    fn expect_next(&mut self) {
        if self.is_over {
            *self = Head::default();
        }
    }

    /// Reads the next bytes; an error is the name of the malformed field.
    fn read(&mut self, mut bytes: &[u8]) -> Result<(), &'static str> {
        while !self.is_over && !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (part, behind) = bytes.split_at(end.unwrap_or(bytes.len()));
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
            self.line.extend(part.iter().take(room));
            bytes = behind.get(1..).unwrap_or_default();
            if end.is_some() {
                self.end_line()?;
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), &'static str> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        match (self.lines, line) {
            // empty lines before an answer are skipped
            (0, []) => return Ok(()),
            (0, line) => self.is_interim = is_interim(line),
            (_, []) if self.is_interim => {
                *self = Head::default();
                return Ok(());
            }
            (_, []) => self.is_over = true,
            (2.., [b' ' | b'\t', ..]) if self.frames => require(!has_control(line), FRAMING[0])?,
            (2.., [b' ' | b'\t', ..]) => {}
            (_, line) => self.frames = check_field(line)?,
        }
        self.lines += 1;
        Ok(())
    }
}

/// Whether the line frames the body; an error if it does so in a form that would be skipped.
fn check_field(line: &[u8]) -> Result<bool, &'static str> {
    let colon = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(colon.unwrap_or(line.len()));
    let is_named = |wanted: &&&str| is_like(name, wanted, colon.is_some());
    let Some(found) = FRAMING.iter().find(is_named) else { return Ok(false) };
    let is_exact = name.trim_ascii_end().eq_ignore_ascii_case(found.as_bytes());
    require(is_exact && !has_control(value) && line.len() < MAX_LINE_BYTES, found)?;
    Ok(true)
}

/// Whether a name is this one but for blanks and odd bytes. Without a colon, its first word.
fn is_like(name: &[u8], wanted: &str, has_colon: bool) -> bool {
    let name = name.trim_ascii_start();
    let word = if has_colon { name } else { name.split(u8::is_ascii_whitespace).next().unwrap_or_default() };
    let letters = word.iter().filter(|byte| byte.is_ascii_graphic()).map(u8::to_ascii_lowercase);
    letters.eq(wanted.bytes())
}

fn has_control(value: &[u8]) -> bool {
    value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t')
}

/// `HTTP/1.1 103 Early Hints`; 101 is the last answer of its connection.
fn is_interim(status_line: &[u8]) -> bool {
    let status = status_line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(1).unwrap_or_default();
    status.len() == 3 && status.starts_with(b"1") && status != b"101"
}

fn require(is_right: bool, name: &'static str) -> Result<(), &'static str> {
    if is_right { Ok(()) } else { Err(name) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usual("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", true)]
    #[case::line_feeds("HTTP/1.1 200 OK\ncontent-length:2\n\n{}", true)]
    #[case::a_blank_before_the_colon("HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\n{}", true)]
    #[case::folded("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", true)]
    #[case::odd_lines("HTTP/1.1 200 OK\r\nPHP Warning - startup\r\nX\u{1}: 1\r\nB\u{fc}: 2\r\n\r\n", true)]
    #[case::another_name("HTTP/1.1 200 OK\r\nX-Content-Length 2\r\nContent-Length-Hint\u{1}: 2\r\n\r\n", true)]
    #[case::in_the_body("HTTP/1.1 200 OK\r\n\r\nContent-Length 2\r\n", true)]
    #[case::folded_text("HTTP/1.1 200 OK\r\nX-Note: a\r\n Content-Length 2\r\n\r\n", true)]
    #[case::after_an_interim_answer("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\n", false)]
    #[case::after_empty_lines("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\n", false)]
    #[case::no_colon("HTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\n", false)]
    #[case::odd_bytes_in_the_name("HTTP/1.1 200 OK\r\nContent-Length\u{1}: 2\r\n\r\n", false)]
    #[case::a_blank_before_the_name("HTTP/1.1 200 OK\r\n Content-Length: 2\r\n\r\n", false)]
    #[case::odd_bytes_in_the_value("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\u{b}\r\n\r\n", false)]
    #[case::odd_bytes_in_the_fold("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\u{b}\r\n\r\n", false)]
    fn a_malformed_framing_field_ends_the_stream(
        #[case] text: &str,
        #[case] is_read: bool,
        #[values(1, 7, 4096)] step: usize,
    ) {
        let mut head = Head::default();
        let read = text.as_bytes().chunks(step).try_for_each(|bytes| head.read(bytes));
        assert_eq!(read.is_ok(), is_read, "{read:?}");
    }

    #[test]
    fn a_long_line_takes_a_bounded_memory() {
        let mut head = Head::default();
        head.read(b"HTTP/1.1 200 OK\r\nX-Long: ").unwrap();
        for _ in 0..1000 {
            head.read(&[b'x'; 1000]).unwrap();
        }
        assert!(head.line.capacity() <= 2 * MAX_LINE_BYTES);
    }
}
