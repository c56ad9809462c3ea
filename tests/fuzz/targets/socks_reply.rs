//! A SOCKS5 proxy's side of the conversation: any bytes. It ends, and no message has the password.

use std::sync::atomic::Ordering;

use drover::stealth::ProxyProtocol;
use drover::stealth::proxy_connect::handshake;
use futures_util::FutureExt;

use super::connect_reply::proxy;
use crate::stream::Answering;

pub const WORDS: &[&str] = &[
    "\x05\x00",
    "\x05\x02",
    "\x01\x00",
    "\x01\x01",
    "\x05\x00\x00\x01",
    "\x05\x00\x00\x03",
    "\x05\x05\x00\x01",
    "\0\0\0\0\0\0",
    "\x04",
];

/// Method, login, and a reply with the longest name.
const MAX_READ: usize = 2 + 2 + 4 + 1 + 255 + 2;

pub fn seeds() -> Vec<Vec<u8>> {
    let granted = b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50";
    vec![
        [b"\x05\x02\x01\x00".as_slice(), granted, b"\x16\x03\x01"].concat(),
        [b"\x05\x00".as_slice(), granted].concat(),
        b"\x05\x02\x01\x01".to_vec(),
        b"\x05\xff".to_vec(),
        b"\x05\x00\x05\x00\x00\x03\x09localhost\x00\x50".to_vec(),
        b"\x05\x00\x05\x04\x00\x01\x00\x00\x00\x00\x00\x00".to_vec(),
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
    ]
}

pub fn run(answer: &[u8]) -> u64 {
    let url = "http://menu.test/".parse().unwrap();
    let mut effect = 0;
    for with_login in [true, false] {
        let mut proxy = proxy(ProxyProtocol::Socks5);
        if !with_login {
            (proxy.username, proxy.password) = (None, None);
        }
        let stream = Answering::new(answer);
        let read = stream.read.clone();
        let connected = handshake(stream, &proxy, &url).now_or_never().expect("it waits for nothing");
        let read = read.load(Ordering::Relaxed);
        assert!(read <= MAX_READ, "{read} bytes were read");
        effect = effect * 100_000
            + match connected {
                Ok(_) => read as u64,
                Err(error) => {
                    assert!(!error.reason.contains("s3cret") && error.reason.len() < 500, "{}", error.reason);
                    1000 + error.kind as u64 * 10_000 + error.reason.len() as u64
                }
            };
    }
    effect
}
