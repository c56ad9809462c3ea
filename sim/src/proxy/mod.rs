//! The forward proxies: real ones on loopback, with faults that can be switched on.
//!
//! They reach loopback only. `localhost` and loopback addresses lead to themselves; any other host leads to
//! the origin, so that a crawler may ask for real names without ever leaving the machine.

mod http1;
mod outgoing;
mod socks;
mod state;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::world::World;

pub(crate) use outgoing::Outgoing;
pub(crate) use state::ProxyState;
pub use state::{ProxyAddress, ProxyFault, ProxyProtocol};

const GARBAGE: &[u8] = b"220 mail.test ESMTP\r\n\r\n";
/// Pause between two bytes through a slow proxy.
const SLOWNESS: Duration = Duration::from_millis(20);
/// Maximum bytes that a late proxy carries at once.
const MAX_PIECE: usize = 64 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REOPEN_PAUSE: Duration = Duration::from_millis(50);
const BACKLOG: u32 = 1024;

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
        ProxyFault::Late(by) => {
            let (mut from_here, to_here) = tokio::io::split(here);
            let (from_there, mut to_there) = there.split();
            tokio::select! {
                ended = tokio::io::copy(&mut from_here, &mut to_there) => ended.map(drop),
                ended = carry_late(from_there, to_here, by) => ended,
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

async fn carry_late(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, by: Duration) -> io::Result<()> {
    let mut piece = vec![0; MAX_PIECE];
    loop {
        let length = from.read(&mut piece).await?;
        if length == 0 {
            return Ok(());
        }
        tokio::time::sleep(by).await;
        to.write_all(&piece[..length]).await?;
        to.flush().await?;
    }
}

/// Connects on behalf of a client, announced to the origin beforehand.
async fn connect(world: &World, proxy: usize, host: &str, port: u16) -> io::Result<TcpStream> {
    if world.refused_hosts.iter().any(|refused| refused.eq_ignore_ascii_case(host)) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
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
