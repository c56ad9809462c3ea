//! Forward proxies: HTTP (absolute form and CONNECT) and SOCKS5. Whatever name is asked for, they lead to one
//! origin, and they keep every byte that was meant for themselves.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use drover::stealth::{Proxy, ProxyProtocol};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::origin::read_head;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Manner {
    Willing,
    /// Answers every request and CONNECT with this status.
    Refusing(u16),
    /// No process listens at its address.
    Absent,
    /// Accepts and never answers.
    Hanging,
    /// Answers CONNECT with bytes that are not HTTP.
    Garbage,
    /// Accepts CONNECT and then answers for itself, in plain text.
    Portal,
    /// Accepts CONNECT and then closes.
    Closing,
    /// Does not reach this host.
    Unreachable(&'static str),
}

pub struct ForwardProxy {
    protocol: ProxyProtocol,
    address: SocketAddr,
    login: Option<(String, String)>,
    state: Arc<State>,
}

struct State {
    manner: Manner,
    origin: SocketAddr,
    heard: Mutex<Vec<Vec<u8>>>,
}

impl ForwardProxy {
    pub async fn http(origin: SocketAddr, manner: Manner) -> Self {
        ForwardProxy::start(ProxyProtocol::Http, origin, manner).await
    }

    pub async fn socks5(origin: SocketAddr, manner: Manner) -> Self {
        ForwardProxy::start(ProxyProtocol::Socks5, origin, manner).await
    }

    pub fn with_login(mut self, user: &str, password: &str) -> Self {
        self.login = Some((user.to_owned(), password.to_owned()));
        self
    }

    pub fn as_row(&self, id: i64) -> Proxy {
        Proxy {
            id,
            protocol: self.protocol,
            host: self.address.ip().to_string(),
            port: self.address.port(),
            username: self.login.as_ref().map(|(user, _)| user.clone()),
            password: self.login.as_ref().map(|(_, password)| password.clone()),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Bytes that clients sent to the proxy itself, one entry a connection (HTTP) or message (SOCKS).
    pub fn heard(&self) -> Vec<Vec<u8>> {
        self.state.heard.lock().unwrap().clone()
    }

    pub fn heard_text(&self) -> Vec<String> {
        self.heard().into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    }

    async fn start(protocol: ProxyProtocol, origin: SocketAddr, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { manner, origin, heard: Mutex::default() });
        if manner != Manner::Absent {
            tokio::spawn(accept(listener, protocol, Arc::clone(&state)));
        }
        ForwardProxy { protocol, address, login: None, state }
    }
}

impl State {
    fn hear(&self, bytes: &[u8]) {
        self.heard.lock().unwrap().push(bytes.to_vec());
    }
}

async fn accept(listener: TcpListener, protocol: ProxyProtocol, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            match (state.manner, protocol) {
                (Manner::Hanging, _) => hang(stream).await,
                (_, ProxyProtocol::Http | ProxyProtocol::Https) => drop(http(stream, &state).await),
                (_, ProxyProtocol::Socks5) => drop(socks5(stream, &state).await),
            }
        });
    }
}

async fn hang(stream: TcpStream) {
    let _kept_open = stream;
    std::future::pending().await
}

async fn http(mut client: TcpStream, state: &State) -> Option<()> {
    let head = read_head(&mut client).await?;
    state.hear(head.as_bytes());
    if let Manner::Refusing(status) = state.manner {
        let answer = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
        return client.write_all(answer.as_bytes()).await.ok();
    }
    match state.manner {
        Manner::Garbage => return client.write_all(b"what?\r\n\r\n").await.ok(),
        Manner::Portal => {
            let page = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>pay</html>";
            return client.write_all(page.as_bytes()).await.ok();
        }
        Manner::Closing => return client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok(),
        Manner::Unreachable(host) if head.contains(host) => {
            return client.write_all(b"HTTP/1.1 502 No\r\n\r\n").await.ok();
        }
        _ => {}
    }
    let mut origin = TcpStream::connect(state.origin).await.ok()?;
    if head.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n").await.ok()?;
    } else {
        origin.write_all(passed_on(&head).as_bytes()).await.ok()?;
    }
    copy_bidirectional(&mut client, &mut origin).await.ok().map(drop)
}

/// Origin form, and without the proxy's own fields. Only the first request of a connection is rewritten.
fn passed_on(head: &str) -> String {
    let head = head.replacen("http://menu.test", "", 1);
    let kept =
        head.split_inclusive("\r\n").filter(|line| !line.to_ascii_lowercase().starts_with("proxy-authorization"));
    kept.collect()
}

async fn socks5(mut client: TcpStream, state: &State) -> Option<()> {
    let greeting = read_counted(&mut client, 2, 1).await?;
    state.hear(&greeting);
    let with_password = greeting[2..].contains(&2);
    client.write_all(&[5, if with_password { 2 } else { 0 }]).await.ok()?;
    if with_password {
        let user = read_counted(&mut client, 2, 1).await?;
        let password = read_counted(&mut client, 1, 0).await?;
        state.hear(&[user, password].concat());
        client.write_all(&[1, u8::from(state.manner == Manner::Refusing(407))]).await.ok()?;
    }
    let ask = read_counted(&mut client, 5, 4).await?;
    let port = read_exactly(&mut client, 2).await?;
    state.hear(&[ask, port].concat());
    if let Manner::Refusing(code) = state.manner {
        return client.write_all(&[5, code as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await.ok();
    }
    let mut origin = TcpStream::connect(state.origin).await.ok()?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.ok()?;
    copy_bidirectional(&mut client, &mut origin).await.ok().map(drop)
}

/// `head` bytes, of which the one at `counter` says how many follow.
async fn read_counted(stream: &mut TcpStream, head: usize, counter: usize) -> Option<Vec<u8>> {
    let mut bytes = read_exactly(stream, head).await?;
    bytes.extend(read_exactly(stream, usize::from(bytes[counter])).await?);
    Some(bytes)
}

async fn read_exactly(stream: &mut TcpStream, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).await.ok()?;
    Some(bytes)
}
