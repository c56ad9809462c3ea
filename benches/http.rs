//! Programs that serve HTTP, and requests to them.

use std::net::SocketAddr;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A process, and the address that it says. It ends when it is dropped.
pub async fn started(command: &mut Command) -> Result<(Child, SocketAddr)> {
    let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
    loop {
        let line = lines.next_line().await?.context("it ended before it said where it listens")?;
        let Some((_, address)) = line.split_once("Listening on http://") else { continue };
        let end = address.find(|c: char| !c.is_ascii_digit() && !".:".contains(c)).unwrap_or(address.len());
        let address = address[..end].parse()?;
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        return Ok((child, address));
    }
}

/// `drover api` on a free port.
pub async fn started_api(program: &str, database_url: &str) -> Result<(Child, SocketAddr)> {
    let mut api = Command::new(program);
    api.arg("api").env("DATABASE_URL", database_url).env("DROVER__API__LISTEN", "127.0.0.1:0");
    started(api.env("DROVER__LOG__FORMAT", "json")).await
}

/// A connection for one request after the other.
pub struct Connection {
    sender: SendRequest<Empty<Bytes>>,
    host: String,
}

impl Connection {
    pub async fn open(server: SocketAddr) -> Result<Connection> {
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Connection { sender, host: server.to_string() })
    }

    /// The body of an answer 200.
    pub async fn get(&mut self, path: &str) -> Result<Bytes> {
        let request = hyper::Request::get(path).header("host", &self.host).body(Empty::new())?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        ensure!(status == 200, "{path}: {status} {}", String::from_utf8_lossy(&body));
        Ok(body)
    }
}
