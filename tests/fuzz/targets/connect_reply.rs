//! A proxy's answer to CONNECT: any bytes. Bytes after the empty line belong to TLS and are left alone; no
//! message has the password.

use std::sync::atomic::Ordering;

use drover::stealth::proxy_connect::handshake;
use drover::stealth::{Proxy, ProxyProtocol};
use futures_util::FutureExt;

use crate::stream::Answering;

pub const WORDS: &[&str] = &[
    "HTTP/1.1 ",
    "HTTP/1.0 200",
    "200",
    "407",
    "502",
    "99999999999",
    "\r\n",
    "\r\n\r\n",
    "\n\n",
    " ",
    "\0",
    "-1",
    "X: y\r\n",
];

/// The head of an answer is read up to this.
const MAX_READ: usize = 16 * 1024;

pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n\x16\x03\x01",
        "HTTP/1.0 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"p\"\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n\r\n",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(answer: &[u8]) -> u64 {
    let stream = Answering::new(answer);
    let read = stream.read.clone();
    let (proxy, url) = (proxy(ProxyProtocol::Http), "https://menu.test/".parse().unwrap());
    let connected = handshake(stream, &proxy, &url).now_or_never().expect("it waits for nothing");
    let read = read.load(Ordering::Relaxed);
    assert!(read <= MAX_READ, "{read} bytes were read");
    match connected {
        Ok(_) => {
            let ends_with = |end: &&[u8]| answer[..read].ends_with(end);
            assert!([&b"\n\r\n"[..], b"\n\n"].iter().any(ends_with), "the empty line is the last that is read");
            1
        }
        Err(error) => {
            assert!(!error.reason.contains("s3cret") && error.reason.len() < 300, "{}", error.reason);
            2 + error.kind as u64 * 1000 + error.reason.len() as u64
        }
    }
}

pub fn proxy(protocol: ProxyProtocol) -> Proxy {
    let (username, password) = (Some("user".to_owned()), Some("s3cret".to_owned()));
    Proxy { id: 1, protocol, host: "proxy.test".to_owned(), port: 8080, username, password }
}
