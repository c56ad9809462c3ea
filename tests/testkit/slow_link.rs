//! `SlowLink`: a TCP port in front of a database server's socket, whose every byte arrives later, as over a
//! long distance.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::fault_proxy::server_of;

const MAX_CHUNKS_UNDER_WAY: usize = 64;

pub struct SlowLink {
    address: SocketAddr,
    database: String,
}

impl SlowLink {
    /// In front of the server of `url`, as [`super::FaultProxy`]; `delay` is for one direction.
    pub async fn start(url: &str, delay: Duration) -> SlowLink {
        let (database, socket) = server_of(url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(accept(listener, socket, delay));
        SlowLink { address, database }
    }

    pub fn url(&self) -> String {
        format!("postgresql://drover@{}/{}?sslmode=disable", self.address, self.database)
    }
}

async fn accept(listener: TcpListener, socket: PathBuf, delay: Duration) {
    while let Ok((client, _)) = listener.accept().await {
        let socket = socket.clone();
        tokio::spawn(async move { connection(client, &socket, delay).await });
    }
}

/// Ends when either side does.
async fn connection(mut client: TcpStream, socket: &Path, delay: Duration) {
    let mut server = UnixStream::connect(socket).await.unwrap();
    client.set_nodelay(true).unwrap();
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    tokio::select! {
        () = delayed(from_client, to_server, delay) => {}
        () = delayed(from_server, to_client, delay) => {}
    }
}

/// A chunk does not wait for earlier ones: chunks that are sent together arrive together.
async fn delayed(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, delay: Duration) {
    let (chunks, mut under_way) = mpsc::channel::<(Instant, Vec<u8>)>(MAX_CHUNKS_UNDER_WAY);
    let read = async {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut bytes).await {
            if chunks.send((Instant::now() + delay, bytes[..length].to_vec())).await.is_err() {
                return;
            }
        }
        drop(chunks);
    };
    let write = async {
        while let Some((arrives, chunk)) = under_way.recv().await {
            sleep_until(arrives).await;
            if to.write_all(&chunk).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}
