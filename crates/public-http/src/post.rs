//! `Http::post`: sends a message, and reads the status of its answer by itself.
//!
//! In: an address, headers, a body. Out: a [`PostAnswer`]. A status line that can be read decides, whatever follows it:
//! headers that are not valid, thousands of them, a body that is cut off or never ends. It must not know what is sent.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tower::Service;
use url::{Position, Url};

use super::{Http, HttpError, MAX_ANSWER_TIME, causes, private_name, shown};

/// Maximum bytes before the end of a status line, with all interim answers in front of it.
const MAX_STATUS: usize = 256 * 1024;
/// Maximum bytes and time of the headers of an answer that accepts nothing.
const MAX_HEADERS: usize = 64 * 1024;
const MAX_HEADERS_TIME: Duration = Duration::from_secs(5);
/// Maximum bytes and time of the rest of an answer, which is read so that the receiver can end it.
const MAX_REST: usize = 256 * 1024;
const MAX_REST_TIME: Duration = Duration::from_secs(5);
/// Bytes of one read.
const READ: usize = 8 * 1024;

#[derive(Clone, Debug)]
pub struct PostAnswer {
    pub status: u16,
    /// The headers that can be read; none of an acceptance, which needs none.
    pub headers: HeaderMap,
}

type Writing = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

impl Http {
    /// Sends a body; a redirect is an answer like any other, and is not followed. `begin` is called just before the
    /// first byte is sent: from then on the receiver may have the message.
    pub async fn post(
        &self,
        url: &Url,
        headers: &HeaderMap,
        body: Bytes,
        begin: impl FnOnce(),
    ) -> Result<PostAnswer, HttpError> {
        let host = self.checked_host(url)?;
        let request = request(url, headers, &body);
        let asked = timeout(MAX_ANSWER_TIME, self.exchange(url, &host, request, begin)).await;
        asked.map_err(|_| HttpError::Late { host })?
    }

    async fn exchange(
        &self,
        url: &Url,
        host: &str,
        request: Vec<u8>,
        begin: impl FnOnce(),
    ) -> Result<PostAnswer, HttpError> {
        let unreachable = |fault: String| HttpError::Unreachable { host: host.to_owned(), fault };
        let target = url.as_str().parse().map_err(|_| HttpError::NotWeb(shown(url)))?;
        let connected = self.connector.clone().call(target).await;
        let stream = connected.map_err(|error| match private_name(&*error) {
            true => HttpError::Private { host: host.to_owned() },
            false => unreachable(causes(&*error)),
        })?;
        begin();
        let (mut reader, mut writer) = tokio::io::split(TokioIo::new(stream));
        let mut writing: Writing = Box::pin(async move {
            writer.write_all(&request).await?;
            writer.flush().await
        });
        let mut bytes = Vec::new();
        let status = while_writing(&mut writing, read_status(&mut reader, &mut bytes)).await.map_err(|error| {
            unreachable(match error.kind() {
                io::ErrorKind::UnexpectedEof => "it closed the connection before it sent a status".to_owned(),
                _ => error.to_string(),
            })
        })?;
        let is_taken = (200..300).contains(&status);
        if !is_taken {
            let _ = timeout(MAX_HEADERS_TIME, read_head(&mut reader, &mut bytes)).await;
        }
        let headers = if is_taken { HeaderMap::new() } else { headers_of(&bytes) };
        tokio::spawn(timeout(MAX_REST_TIME, end(writing, reader)));
        Ok(PostAnswer { status, headers })
    }
}

fn request(url: &Url, headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let authority = &url[Position::BeforeHost..Position::AfterPort];
    let mut request = format!("POST {target} HTTP/1.1\r\n{HOST}: {authority}\r\n").into_bytes();
    let length = HeaderValue::from(body.len());
    let own = [(&CONTENT_LENGTH, &length), (&CONNECTION, &HeaderValue::from_static("close"))];
    for (name, value) in own.into_iter().chain(headers) {
        request.extend_from_slice(name.as_str().as_bytes());
        request.extend_from_slice(b": ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    request.extend_from_slice(body);
    request
}

/// The status, which may come before the request is written, and after a receiver has stopped to read it.
async fn while_writing(writing: &mut Writing, status: impl Future<Output = io::Result<u16>>) -> io::Result<u16> {
    tokio::pin!(status);
    let written = tokio::select! {
        biased;
        status = &mut status => return status,
        written = &mut *writing => written,
    };
    // it is over, and must not be polled again
    *writing = Box::pin(std::future::ready(Ok(())));
    match (status.await, written) {
        (Err(error), Err(fault)) if error.kind() == io::ErrorKind::UnexpectedEof => Err(fault),
        (status, _) => status,
    }
}

/// The status of the final answer, which `bytes` then begins with; interim answers are skipped.
async fn read_status(reader: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> io::Result<u16> {
    let mut total = 0;
    loop {
        let read = read_more(reader, bytes).await;
        let is_over = !matches!(read, Ok(1..));
        loop {
            match status_of(bytes, is_over) {
                Some(100 | 102..200) => match head_end(bytes) {
                    Some(end) => drop(bytes.drain(..end)),
                    None => break,
                },
                Some(status) => return Ok(status),
                None => break,
            }
        }
        total += read?;
        if is_over {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if total > MAX_STATUS || is_other(bytes) {
            return Err(io::Error::other("it does not answer with HTTP/1"));
        }
    }
}

/// Reads up to the end of the headers.
async fn read_head(reader: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> io::Result<()> {
    while head_end(bytes).is_none() && bytes.len() < MAX_HEADERS {
        if read_more(reader, bytes).await? == 0 {
            break;
        }
    }
    Ok(())
}

async fn read_more(reader: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> io::Result<usize> {
    let mut read = [0; READ];
    let count = reader.read(&mut read).await?;
    bytes.extend_from_slice(&read[..count]);
    Ok(count)
}

async fn end(writing: Writing, mut reader: impl AsyncRead + Unpin) {
    let rest = async {
        let (mut read, mut rest) = ([0; READ], MAX_REST);
        while rest > 0 {
            match reader.read(&mut read).await {
                Ok(count @ 1..) => rest = rest.saturating_sub(count),
                _ => return,
            }
        }
    };
    let _ = tokio::join!(writing, rest);
}

/// `HTTP/1.1 200`, and then no further digit. Line ends in front of it are left out. `is_over`: no byte follows.
fn status_of(bytes: &[u8], is_over: bool) -> Option<u16> {
    let line = &bytes[bytes.iter().take_while(|byte| b"\r\n".contains(byte)).count()..];
    let version = line.iter().position(|byte| b" \t".contains(byte))?;
    if !line.get(..5)?.eq_ignore_ascii_case(b"HTTP/") {
        return None;
    }
    let rest = &line[version..];
    let rest = &rest[rest.iter().take_while(|byte| b" \t".contains(byte)).count()..];
    let (digits, after) = rest.split_at_checked(3)?;
    let is_status = digits.iter().all(u8::is_ascii_digit) && (b'1'..=b'9').contains(&digits[0]);
    let is_ended = after.first().map_or(is_over, |byte| !byte.is_ascii_digit());
    let value = || digits.iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0'));
    (is_status && is_ended).then(value)
}

/// Whether these bytes begin no answer of HTTP/1.
fn is_other(bytes: &[u8]) -> bool {
    let line = &bytes[bytes.iter().take_while(|byte| b"\r\n".contains(byte)).count()..];
    let begin = &line[..line.len().min(5)];
    let has_no_status = line.contains(&b'\n') && status_of(bytes, false).is_none();
    has_no_status || !begin.eq_ignore_ascii_case(&b"HTTP/"[..begin.len()])
}

/// The place after the empty line that ends the headers.
fn head_end(bytes: &[u8]) -> Option<usize> {
    let mut line_begin = bytes.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    while let Some(length) = bytes.get(line_begin..)?.iter().position(|byte| *byte == b'\n') {
        let line = &bytes[line_begin..line_begin + length];
        line_begin += length + 1;
        if line.is_empty() || line == b"\r" {
            return Some(line_begin);
        }
    }
    None
}

/// The lines that are headers; the others are left out.
fn headers_of(head: &[u8]) -> HeaderMap {
    let lines = head[..head_end(head).unwrap_or(head.len())].split(|byte| *byte == b'\n');
    let headers = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(line[..colon].trim_ascii()).ok()?;
        Some((name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?))
    });
    headers.collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usual("HTTP/1.1 200 OK\r\n", Some(200))]
    #[case::http_1_0("HTTP/1.0 202 Accepted\r\n", Some(202))]
    #[case::no_reason("HTTP/1.1 204\r\n", Some(204))]
    #[case::a_line_feed_alone("HTTP/1.1 200\n", Some(200))]
    #[case::empty_lines_in_front("\r\n\r\nHTTP/1.1 200 OK\r\n", Some(200))]
    #[case::two_blanks("HTTP/1.1  200  OK\r\n", Some(200))]
    #[case::small_letters("http/1.1 200 ok\r\n", Some(200))]
    #[case::another_version("HTTP/2 200\r\n", Some(200))]
    #[case::cut_after_the_digits("HTTP/1.1 200", Some(200))]
    #[case::cut_in_the_digits("HTTP/1.1 20", None)]
    #[case::four_digits("HTTP/1.1 2000 OK\r\n", None)]
    #[case::an_interim_answer("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n", Some(200))]
    #[case::an_interim_answer_alone("HTTP/1.1 100 Continue\r\n\r\n", None)]
    #[case::another_protocol("HTTP/1.1 101 Switching Protocols\r\n\r\n", Some(101))]
    #[case::a_refusal("HTTP/1.1 503 no\r\n", Some(503))]
    #[case::no_http("220 mail.example ESMTP\r\n", None)]
    #[case::a_page("<html>HTTP/1.1 200</html>\r\n", None)]
    #[case::nothing("", None)]
    #[tokio::test]
    async fn a_status_line_that_can_be_read_decides(#[case] answer: &str, #[case] expected: Option<u16>) {
        // whole, and byte by byte
        assert_eq!(read_status(&mut answer.as_bytes(), &mut Vec::new()).await.ok(), expected);
        let (here, mut there) = tokio::io::duplex(1);
        let bytes = answer.as_bytes().to_vec();
        tokio::spawn(async move { there.write_all(&bytes).await });
        let mut here = here;
        assert_eq!(read_status(&mut here, &mut Vec::new()).await.ok(), expected);
    }

    #[test]
    fn headers_that_can_be_read_are_read_among_others() {
        let head = b"HTTP/1.1 503 x\r\nPHP Warning - startup\r\nRetry-After : 60\r\nx: \xfc\r\n: y\r\n\r\nbody: z\r\n";
        let headers = headers_of(head);
        assert_eq!(headers.get("retry-after").map(HeaderValue::as_bytes), Some(b"60".as_slice()));
        assert!(!headers.contains_key("body"));
    }

    #[test]
    fn a_request_names_host_length_and_headers() {
        let url = "https://hooks.example:8443/a/b?c=d#e".parse().unwrap();
        let headers = HeaderMap::from_iter([(HeaderName::from_static("title"), HeaderValue::from_static("t"))]);
        let expected = "POST /a/b?c=d HTTP/1.1\r\nhost: hooks.example:8443\r\ncontent-length: 2\r\nconnection: close\r\ntitle: t\r\n\r\nhi";
        assert_eq!(String::from_utf8(request(&url, &headers, b"hi")).unwrap(), expected);
    }
}
