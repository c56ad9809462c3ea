//! `RawReceiver`: a receiver of webhooks on a port of its own, which answers with bytes as they are written, however odd
//! they are for HTTP. It reads each request whole, keeps it, and answers by its script.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::connections;
use super::hooks::Delivery;

/// Maximum bytes of a request, number of deliveries that are kept, and of connections.
const MAX_REQUEST: usize = 1 << 20;
const MAX_DELIVERIES: usize = 1_000;
const MAX_CONNECTIONS: usize = 64;
/// Maximum time of a request, and of an answer without an end.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Answer after the script, and without one.
const USUAL: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[derive(Clone, Debug)]
pub struct RawAnswer {
    pub bytes: Vec<u8>,
    pub then: AfterAnswer,
}

/// The end of a connection, once the bytes are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAnswer {
    /// The connection is ready for more; one of HTTP is closed.
    GoOn,
    Close,
    Reset,
    /// The connection stays open, and nothing more comes.
    Silence,
    /// The last byte comes again and again.
    Endless,
}

pub struct RawReceiver {
    state: Arc<State>,
    address: SocketAddr,
    _server: JoinSet<()>,
}

#[derive(Default)]
struct State {
    answers: Mutex<VecDeque<RawAnswer>>,
    deliveries: Mutex<VecDeque<Delivery>>,
}

impl RawReceiver {
    /// One answer after the other, then 200. Serves on the caller's runtime until it is dropped.
    pub async fn start(answers: Vec<RawAnswer>) -> Result<RawReceiver> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("a port on 127.0.0.1")?;
        let (address, state) = (listener.local_addr()?, Arc::new(State::default()));
        *locked(&state.answers) = answers.into();
        let mut server = JoinSet::new();
        let served = state.clone();
        server.spawn(async move {
            connections::serve(listener, MAX_CONNECTIONS, |stream| connection(served.clone(), stream)).await;
        });
        Ok(RawReceiver { state, address, _server: server })
    }

    /// Scheme, host and port, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Oldest first. The status is the one that the answer begins with; 0 where none can be read.
    pub fn deliveries(&self) -> Vec<Delivery> {
        locked(&self.state.deliveries).iter().cloned().collect()
    }
}

impl RawAnswer {
    pub fn new(bytes: impl Into<Vec<u8>>, then: AfterAnswer) -> RawAnswer {
        RawAnswer { bytes: bytes.into(), then }
    }
}

async fn connection(state: Arc<State>, mut stream: TcpStream) {
    let answered = tokio::time::timeout(MAX_TIME, respond(&state, &mut stream)).await;
    match answered {
        Ok(Ok(AfterAnswer::Reset)) => drop(stream.set_zero_linger()),
        Ok(Ok(AfterAnswer::Silence)) => {
            // until the client leaves, or the receiver ends
            let mut rest = [0; 1024];
            while stream.read(&mut rest).await.is_ok_and(|bytes| bytes > 0) {}
        }
        _ => {}
    }
}

async fn respond(state: &State, stream: &mut TcpStream) -> io::Result<AfterAnswer> {
    let (headers, body) = read_request(stream).await?;
    let answer = locked(&state.answers).pop_front();
    let answer = answer.unwrap_or_else(|| RawAnswer::new(USUAL, AfterAnswer::Close));
    keep(state, Delivery { headers, body, status: status_of(&answer.bytes) });
    stream.write_all(&answer.bytes).await?;
    if answer.then == AfterAnswer::Endless {
        let last = answer.bytes.last().copied().unwrap_or(b' ');
        loop {
            stream.write_all(&[last; 1024]).await?;
        }
    }
    Ok(answer.then)
}

fn keep(state: &State, delivery: Delivery) {
    let mut deliveries = locked(&state.deliveries);
    deliveries.push_back(delivery);
    while deliveries.len() > MAX_DELIVERIES {
        deliveries.pop_front();
    }
}

/// Its headers, and a body of the length that they name.
async fn read_request(stream: &mut TcpStream) -> io::Result<(HeaderMap, Bytes)> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end;
        }
        read_more(stream, &mut bytes).await?;
    };
    let headers = headers_of(&bytes[..head]);
    let length = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok()).unwrap_or(0);
    while bytes.len() < head + 4 + length {
        read_more(stream, &mut bytes).await?;
    }
    Ok((headers, Bytes::copy_from_slice(&bytes[head + 4..])))
}

async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    if bytes.len() > MAX_REQUEST {
        return Err(io::Error::other("the request is too large"));
    }
    match stream.read_buf(bytes).await? {
        0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        _ => Ok(()),
    }
}

fn headers_of(head: &[u8]) -> HeaderMap {
    let head = String::from_utf8_lossy(head);
    let pairs = head.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
    let pairs = pairs.filter_map(|(name, value)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value.trim()).ok()?))
    });
    pairs.collect()
}

fn status_of(answer: &[u8]) -> u16 {
    let answer = String::from_utf8_lossy(answer);
    answer.split_whitespace().nth(1).and_then(|status| status.get(..3)?.parse().ok()).unwrap_or(0)
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
