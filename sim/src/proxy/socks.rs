//! SOCKS5 (RFC 1928, RFC 1929): CONNECT to names and to addresses of this machine, with user and password or
//! without.
//!
//! An address of any other machine is refused: a client that sends one has resolved a name without the proxy.

use std::io;
use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::state::Page;
use super::{ProxyFault, address, connect, relay};
use crate::world::World;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;

const GRANTED: u8 = 0;
const GENERAL_FAILURE: u8 = 1;
const NOT_ALLOWED: u8 = 2;
const CONNECTION_REFUSED: u8 = 5;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_NOT_SUPPORTED: u8 = 8;

pub(super) async fn converse(world: &World, proxy: usize, mut client: TcpStream) -> io::Result<()> {
    let state = &world.proxies[proxy];
    let fault = state.unhung_fault().await;
    let greeting = tokio::time::timeout(world.client_timeout, greet(world, proxy, fault, &mut client));
    let (host, port) = match greeting.await.map_err(io::Error::other)? {
        Ok(target) => target,
        Err(error) => {
            world.counters.note_proxy(proxy, |counts| counts.refused += 1);
            return Err(error);
        }
    };
    if let Some(page) = fault.page() {
        world.counters.note_proxy(proxy, |counts| counts.refused += 1);
        reply(&mut client, GRANTED).await?;
        return client.write_all(answer(page).as_bytes()).await;
    }
    match connect(world, proxy, &host, port).await {
        Err(_) => reply(&mut client, CONNECTION_REFUSED).await,
        Ok(mut there) => {
            reply(&mut client, GRANTED).await?;
            relay(fault, &mut client, &mut there).await
        }
    }
}

/// Reads up to the target of the client; an error once it has been refused.
async fn greet(world: &World, proxy: usize, fault: ProxyFault, client: &mut TcpStream) -> io::Result<(String, u16)> {
    authenticate(world, proxy, fault, client).await?;
    let target = target(client).await?;
    if fault == ProxyFault::BadGateway {
        reply(client, GENERAL_FAILURE).await?;
        return Err(refused("fault"));
    }
    Ok(target)
}

async fn authenticate(world: &World, proxy: usize, fault: ProxyFault, client: &mut TcpStream) -> io::Result<()> {
    let state = &world.proxies[proxy];
    let version = client.read_u8().await?;
    let methods = block(client).await?;
    if version != VERSION {
        return Err(refused("not SOCKS5"));
    }
    let must_fail = fault == ProxyFault::AuthRequired;
    let wanted = if state.wants_credentials() || must_fail { PASSWORD } else { NO_AUTHENTICATION };
    if !methods.contains(&wanted) {
        client.write_all(&[VERSION, NO_METHOD]).await?;
        return Err(refused("no method in common"));
    }
    client.write_all(&[VERSION, wanted]).await?;
    if wanted == NO_AUTHENTICATION {
        return Ok(());
    }
    let (username, password) = credentials(client).await?;
    let is_known = state.accepts(&username, &password);
    world.counters.note(|counts| counts.credentials_astray += u64::from(!is_known));
    let right = is_known && !must_fail;
    client.write_all(&[1, u8::from(!right)]).await?;
    if right { Ok(()) } else { Err(refused("wrong credentials")) }
}

async fn credentials(client: &mut TcpStream) -> io::Result<(String, String)> {
    let _version = client.read_u8().await?;
    let (username, password) = (block(client).await?, block(client).await?);
    Ok((String::from_utf8_lossy(&username).into_owned(), String::from_utf8_lossy(&password).into_owned()))
}

async fn target(client: &mut TcpStream) -> io::Result<(String, u16)> {
    let mut head = [0; 4];
    client.read_exact(&mut head).await?;
    let [_version, command, _reserved, kind] = head;
    if command != 1 {
        reply(client, COMMAND_NOT_SUPPORTED).await?;
        return Err(refused("command"));
    }
    let host = match kind {
        1 => Ipv4Addr::from(client.read_u32().await?).to_string(),
        3 => String::from_utf8_lossy(&block(client).await?).into_owned(),
        _ => {
            reply(client, ADDRESS_NOT_SUPPORTED).await?;
            return Err(refused("address"));
        }
    };
    let port = client.read_u16().await?;
    if address(&host).is_some_and(|ip| !ip.is_loopback()) {
        reply(client, NOT_ALLOWED).await?;
        return Err(refused("an address, not a name"));
    }
    Ok((host, port))
}

/// Bytes with their count before them.
async fn block(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn reply(client: &mut TcpStream, code: u8) -> io::Result<()> {
    client.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await
}

fn answer((media_type, text): Page) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n{text}", text.len())
}

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}
