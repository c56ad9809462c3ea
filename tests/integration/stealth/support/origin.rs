//! An origin that records every request as it is on the wire and answers from a script.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::HandshakeKind;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{Ca, Certificate};

#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedRequest {
    pub method: String,
    pub target: String,
    /// Fields as spelled, in order.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    fields: Vec<(&'static str, String)>,
    body: Vec<u8>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    KeepOpen,
    /// Closes after a whole answer, without having said so.
    Close,
    /// Ends in the middle of the body.
    Truncate,
    /// Ends in the middle of the body, without a word of TLS.
    Cut,
    /// Head and body less its end; then nothing more.
    Stall,
    /// Nothing is ever answered.
    Hang,
    /// The connection closes without an answer.
    Refuse,
}

impl Reply {
    pub fn json(body: &str) -> Self {
        let fields = vec![("content-type", "application/json".to_owned())];
        Reply { status: 200, fields, body: body.as_bytes().to_vec(), end: End::KeepOpen }
    }

    pub fn status(status: u16) -> Self {
        Reply { status, ..Reply::json("{}") }
    }

    pub fn html(status: u16) -> Self {
        Reply { fields: Vec::new(), ..Reply::status(status) }.with("content-type", "text/html").body(b"<html>no</html>")
    }

    /// Answers with HTML that no Content-Type names.
    pub fn untyped_html(status: u16) -> Self {
        Reply { fields: Vec::new(), ..Reply::html(status) }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.fields.push((name, value.to_owned()));
        self
    }

    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    pub fn then_closing(self) -> Self {
        Reply { end: End::Close, ..self }
    }

    pub fn truncated(self) -> Self {
        Reply { end: End::Truncate, ..self }
    }

    pub fn cut(self) -> Self {
        Reply { end: End::Cut, ..self }
    }

    pub fn stalled(self) -> Self {
        Reply { end: End::Stall, ..self }
    }

    pub fn refused() -> Self {
        Reply { end: End::Refuse, ..Reply::status(200) }
    }

    pub fn never() -> Self {
        Reply { end: End::Hang, ..Reply::status(200) }
    }
}

#[derive(Clone)]
pub struct Origin {
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<ReceivedRequest>>,
    script: Mutex<VecDeque<Reply>>,
    handshakes: Mutex<Vec<HandshakeKind>>,
}

impl Origin {
    pub async fn plain() -> Self {
        Origin::start(None).await
    }

    /// `protocols` as offered by ALPN.
    pub async fn tls(ca: &Ca, protocols: &[&str]) -> Self {
        Origin::start(Some(ca.acceptor(protocols))).await
    }

    /// Starts with a certificate that is not as it should be.
    pub async fn with_certificate(ca: &Ca, kind: Certificate) -> Self {
        Origin::start(Some(ca.origin_acceptor(kind, &["h2", "http/1.1"]))).await
    }

    async fn start(tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = Origin { address: listener.local_addr().unwrap(), state: Arc::default() };
        tokio::spawn(accept(listener, tls, Arc::clone(&origin.state)));
        origin
    }

    /// Answers in this order; after them `{}`.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state.script.lock().unwrap().extend(replies);
    }

    /// TLS handshakes up to now: how many in all, and how many of them resumed an earlier session.
    pub fn handshakes(&self) -> (usize, usize) {
        let kinds = self.state.handshakes.lock().unwrap();
        (kinds.len(), kinds.iter().filter(|kind| **kind == HandshakeKind::Resumed).count())
    }

    pub fn seen(&self) -> Vec<ReceivedRequest> {
        self.state.seen.lock().unwrap().clone()
    }
}

impl State {
    fn answer(&self, seen: ReceivedRequest) -> Reply {
        self.seen.lock().unwrap().push(seen);
        self.script.lock().unwrap().pop_front().unwrap_or_else(|| Reply::json("{}"))
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, state) = (tls.clone(), Arc::clone(&state));
        tokio::spawn(async move {
            let Some(tls) = tls else { return http1(stream, &state).await };
            let Ok(stream) = tls.accept(stream).await else { return };
            let server = &stream.get_ref().1;
            state.handshakes.lock().unwrap().extend(server.handshake_kind());
            match server.alpn_protocol() {
                Some(b"h2") => http2(stream, state).await,
                _ => http1(stream, &state).await,
            }
        });
    }
}

async fn http1(mut stream: impl AsyncRead + AsyncWrite + Unpin, state: &State) {
    while let Some(head) = read_head(&mut stream).await {
        let mut seen = parse_head(&head);
        let length = seen.field("content-length").map_or(0, |length| length.parse().unwrap());
        seen.body = vec![0; length];
        stream.read_exact(&mut seen.body).await.unwrap();
        let reply = state.answer(seen);
        if reply.end == End::Refuse {
            return;
        }
        if reply.end == End::Hang {
            return std::future::pending().await;
        }
        let written = stream.write_all(&on_the_wire(&reply)).await;
        if reply.end == End::Stall {
            return std::future::pending().await;
        }
        if reply.end == End::Cut {
            return;
        }
        if written.is_err() || reply.end != End::KeepOpen {
            let _ = stream.shutdown().await;
            return;
        }
    }
}

fn on_the_wire(reply: &Reply) -> Vec<u8> {
    let lacking = if matches!(reply.end, End::Truncate | End::Cut | End::Stall) { 100 } else { 0 };
    let mut wire = format!("HTTP/1.1 {} X\r\nContent-Length: {}\r\n", reply.status, reply.body.len() + lacking);
    reply.fields.iter().for_each(|(name, value)| wire.push_str(&format!("{name}: {value}\r\n")));
    wire.push_str("\r\n");
    [wire.as_bytes(), &reply.body].concat()
}

/// Reads everything up to and with the empty line; none at the end of the stream.
pub async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

pub fn parse_head(head: &str) -> ReceivedRequest {
    let mut lines = head.trim_end().lines();
    let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
    let fields = lines.map(|line| line.split_once(": ").unwrap()).map(|(n, v)| (n.to_owned(), v.to_owned()));
    ReceivedRequest {
        method: first.next().unwrap(),
        target: first.next().unwrap(),
        fields: fields.collect(),
        body: Vec::new(),
    }
}

async fn http2(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, state: Arc<State>) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(answer_http2(request, &state).await) }
    });
    let _ = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

async fn answer_http2(request: hyper::Request<Incoming>, state: &State) -> hyper::Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let text = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
    let reply = state.answer(ReceivedRequest {
        method: head.method.to_string(),
        target: head.uri.to_string(),
        fields: head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body: body.collect().await.unwrap().to_bytes().to_vec(),
    });
    let mut answer = hyper::Response::builder().status(reply.status);
    for (name, value) in &reply.fields {
        answer = answer.header(*name, value);
    }
    answer.body(Full::new(Bytes::from(reply.body))).unwrap()
}
