//! The forward proxies: real ones on loopback, with faults that can be switched on.
//!
//! They reach loopback only. `localhost` and loopback addresses lead to themselves; any other host leads to
//! the origin, so that a crawler may ask for real names without ever leaving the machine.

mod http1;
mod outgoing;
mod socks;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::faults::Refusal;
use crate::world::World;

pub(crate) use outgoing::Outgoing;

/// Pages of a captive portal, and of another host than the requested one: media type and text.
const PORTAL: Page =
    ("text/html", "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please log in</body></html>");
const ANOTHER_HOST: Page = ("application/json", r#"{"status":"ok"}"#);
const GARBAGE: &[u8] = b"220 mail.test ESMTP\r\n\r\n";
/// Between two bytes through a slow proxy.
const SLOWNESS: Duration = Duration::from_millis(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REOPEN_PAUSE: Duration = Duration::from_millis(50);
const BACKLOG: u32 = 1024;

type Page = (&'static str, &'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyProtocol {
    Http,
    /// HTTP inside TLS.
    Https,
    Socks5,
}

/// A proxy's address and its required credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress {
    pub protocol: ProxyProtocol,
    pub host: String,
    pub port: u16,
    pub username: Option<String>,
    pub password: Option<String>,
}

impl std::fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProxyAddress({:?} {}:{})", self.protocol, self.host, self.port)
    }
}

/// Deliberate fault of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyFault {
    #[default]
    None,
    /// The port is closed, and so are open connections.
    Refuse,
    /// Connections are accepted and never answered, until the fault ends.
    Hang,
    /// The origin refuses every request that comes through this proxy.
    Blocked(Refusal),
    /// 407, to valid credentials too; SOCKS: authentication fails.
    AuthRequired,
    /// 502; SOCKS: general failure.
    BadGateway,
    /// A captive portal: it accepts whatever is asked for and answers with a page of its own, in plain HTTP.
    Portal,
    /// It connects to another host, which answers everything with JSON of its own, in plain HTTP.
    WrongTarget,
    /// Bytes of no protocol that a proxy speaks.
    Garbage,
    /// It accepts the request, and breaks the connection at the first byte.
    Reset,
    /// A tunnel brings one byte after another, slowly.
    Slow,
}

impl ProxyFault {
    /// Every way in which a proxy may be dead without a part of the origin in it.
    pub const DEATHS: [ProxyFault; 9] = [
        ProxyFault::Refuse,
        ProxyFault::Hang,
        ProxyFault::BadGateway,
        ProxyFault::Portal,
        ProxyFault::WrongTarget,
        ProxyFault::AuthRequired,
        ProxyFault::Garbage,
        ProxyFault::Reset,
        ProxyFault::Slow,
    ];

    /// The page that replaces the requested host's answer.
    fn page(self) -> Option<Page> {
        match self {
            ProxyFault::Portal => Some(PORTAL),
            ProxyFault::WrongTarget => Some(ANOTHER_HOST),
            _ => None,
        }
    }
}

/// One proxy: its kind, and its behaviour now.
pub(crate) struct ProxyState {
    pub(crate) address: ProxyAddress,
    fault: watch::Sender<ProxyFault>,
    /// Refuse everything after this many requests, until the fault is reset.
    block: Mutex<Option<(u64, Refusal)>>,
    seen_by_origin: AtomicU64,
}

impl ProxyState {
    pub(crate) fn new(address: ProxyAddress, block: Option<(u64, Refusal)>) -> ProxyState {
        ProxyState {
            address,
            fault: watch::Sender::default(),
            block: Mutex::new(block),
            seen_by_origin: AtomicU64::new(0),
        }
    }

    pub(crate) fn set_fault(&self, fault: ProxyFault) {
        if fault == ProxyFault::None {
            *self.block.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.fault.send_replace(fault);
    }

    /// Counts a request that reached the origin through this proxy, and returns how it is refused, if it is.
    pub(crate) fn next_refusal(&self) -> Option<Refusal> {
        let seen = self.seen_by_origin.fetch_add(1, Ordering::Relaxed);
        if let ProxyFault::Blocked(refusal) = *self.fault.borrow() {
            return Some(refusal);
        }
        let block = *self.block.lock().unwrap_or_else(PoisonError::into_inner);
        block.filter(|(after, _)| seen >= *after).map(|(_, refusal)| refusal)
    }

    /// The fault to show now, once nothing hangs any more.
    async fn unhung_fault(&self) -> ProxyFault {
        let mut fault = self.fault.subscribe();
        match fault.wait_for(|fault| *fault != ProxyFault::Hang).await {
            Ok(fault) => *fault,
            Err(_) => ProxyFault::Refuse,
        }
    }

    async fn until_refusing(&self, refusing: bool) {
        let mut fault = self.fault.subscribe();
        let _ = fault.wait_for(|fault| (*fault == ProxyFault::Refuse) == refusing).await;
    }

    fn accepts(&self, username: &str, password: &str) -> bool {
        let is = |wanted: &Option<String>, given: &str| wanted.as_deref() == Some(given);
        is(&self.address.username, username) && is(&self.address.password, password)
    }

    fn wants_credentials(&self) -> bool {
        self.address.username.is_some()
    }
}

/// Listens while it does not refuse; runs until it is dropped.
pub(crate) async fn serve(world: Arc<World>, proxy: usize, mut listener: TcpListener) {
    let state = &world.proxies[proxy];
    loop {
        tokio::select! {
            () = accept(&world, proxy, &listener) => {}
            () = state.until_refusing(true) => {}
        }
        drop(listener);
        listener = reopened(state).await;
    }
}

/// Keeps the port without listening on it while the proxy refuses, so that connections are refused and no
/// other process takes the port.
async fn reopened(state: &ProxyState) -> TcpListener {
    loop {
        match reopen(state).await {
            Ok(listener) => return listener,
            Err(error) => tracing::warn!(port = state.address.port, %error, "simulator: proxy cannot listen again yet"),
        }
        tokio::time::sleep(REOPEN_PAUSE).await;
    }
}

async fn reopen(state: &ProxyState) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, state.address.port)))?;
    state.until_refusing(false).await;
    socket.listen(BACKLOG)
}

async fn accept(world: &Arc<World>, proxy: usize, listener: &TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        world.counters.note_proxy(proxy, |counts| counts.connections += 1);
        let world = world.clone();
        tokio::spawn(async move {
            let state = &world.proxies[proxy];
            tokio::select! {
                () = converse(world.clone(), proxy, stream) => {}
                () = state.until_refusing(true) => {}
            }
        });
    }
}

async fn converse(world: Arc<World>, proxy: usize, mut stream: TcpStream) {
    if *world.proxies[proxy].fault.borrow() == ProxyFault::Garbage {
        world.counters.note_proxy(proxy, |counts| counts.refused += 1);
        return drop(stream.write_all(GARBAGE).await);
    }
    let ended = match world.proxies[proxy].address.protocol {
        ProxyProtocol::Http => http1::converse(world, proxy, stream).await,
        ProxyProtocol::Https => secure(world, proxy, stream).await,
        ProxyProtocol::Socks5 => socks::converse(&world, proxy, stream).await,
    };
    if let Err(error) = ended {
        tracing::trace!(proxy, %error, "simulator: proxy connection ended");
    }
}

async fn secure(world: Arc<World>, proxy: usize, stream: TcpStream) -> io::Result<()> {
    let acceptor = world.proxy_tls.clone().ok_or(io::ErrorKind::Unsupported)?;
    let accepted = tokio::time::timeout(world.client_timeout, acceptor.accept(stream)).await;
    let stream = accepted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).inspect_err(|_| {
        world.counters.note_proxy(proxy, |counts| counts.refused += 1);
    })?;
    http1::converse(world, proxy, stream).await
}

/// Carries bytes both ways as its fault says, until one side ends.
async fn relay(
    fault: ProxyFault,
    here: &mut (impl AsyncRead + AsyncWrite + Unpin),
    there: &mut TcpStream,
) -> io::Result<()> {
    match fault {
        // bytes after the first one are not read, so that the system resets the connection
        ProxyFault::Reset => here.read_u8().await.map(drop),
        ProxyFault::Slow => {
            let (from_here, mut to_here) = tokio::io::split(here);
            let (from_there, mut to_there) = there.split();
            tokio::select! {
                ended = drip(from_here, &mut to_there) => ended,
                ended = drip(from_there, &mut to_here) => ended,
            }
        }
        _ => copy_bidirectional(here, there).await.map(drop),
    }
}

async fn drip(mut from: impl AsyncRead + Unpin, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    loop {
        let byte = from.read_u8().await?;
        to.write_all(&[byte]).await?;
        to.flush().await?;
        tokio::time::sleep(SLOWNESS).await;
    }
}

/// Connects on behalf of a client, announced to the origin beforehand.
async fn connect(world: &World, proxy: usize, host: &str, port: u16) -> io::Result<TcpStream> {
    let target = resolve(world, host, port);
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let from = socket.local_addr()?;
    if target == world.origin {
        world.outgoing.announce(from, proxy);
    }
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, socket.connect(target)).await;
    let connected = connected.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)));
    match connected {
        Ok(stream) => {
            let _ = stream.set_nodelay(true);
            Ok(stream)
        }
        Err(error) => {
            world.outgoing.take(from);
            Err(error)
        }
    }
}

fn resolve(world: &World, host: &str, port: u16) -> SocketAddr {
    let is_here = host.eq_ignore_ascii_case("localhost") || address(host).is_some_and(|ip| ip.is_loopback());
    if is_here { SocketAddr::from((Ipv4Addr::LOCALHOST, port)) } else { world.origin }
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}
