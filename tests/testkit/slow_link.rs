//! `SlowLink`: a TCP port in front of a database server's socket, whose every byte arrives later, as over a
//! long distance. It counts how often its clients waited for an answer.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    round_trips: Arc<AtomicUsize>,
}

impl SlowLink {
    /// Starts in front of the server of `url`, as [`super::FaultProxy`]; `delay` is for one direction.
    pub async fn start(url: &str, delay: Duration) -> SlowLink {
        let (database, socket) = server_of(url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let round_trips = Arc::default();
        tokio::spawn(accept(listener, socket, delay, Arc::clone(&round_trips)));
        SlowLink { address, database, round_trips }
    }

    /// How often a client had sent something when an answer reached it. Statements that it sends within one
    /// round trip count once.
    pub fn round_trips(&self) -> usize {
        self.round_trips.load(Ordering::Relaxed)
    }

    pub fn url(&self) -> String {
        format!("postgresql://drover@{}/{}?sslmode=disable", self.address, self.database)
    }
}

async fn accept(listener: TcpListener, socket: PathBuf, delay: Duration, round_trips: Arc<AtomicUsize>) {
    while let Ok((client, _)) = listener.accept().await {
        let (socket, round_trips) = (socket.clone(), Arc::clone(&round_trips));
        tokio::spawn(async move { connection(client, &socket, delay, &round_trips).await });
    }
}

/// Ends when either side does.
async fn connection(mut client: TcpStream, socket: &Path, delay: Duration, round_trips: &AtomicUsize) {
    let mut server = UnixStream::connect(socket).await.unwrap();
    client.set_nodelay(true).unwrap();
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let waits = AtomicBool::new(false);
    let note_question = || waits.store(true, Ordering::Relaxed);
    let note_answer = || {
        if waits.swap(false, Ordering::Relaxed) {
            round_trips.fetch_add(1, Ordering::Relaxed);
        }
    };
    tokio::select! {
        () = delayed(from_client, to_server, delay, note_question, || ()) => {}
        () = delayed(from_server, to_client, delay, || (), note_answer) => {}
    }
}

/// A chunk does not wait for earlier ones: chunks that are sent together arrive together.
async fn delayed(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    delay: Duration,
    left: impl Fn(),
    arrived: impl Fn(),
) {
    let (chunks, mut under_way) = mpsc::channel::<(Instant, Vec<u8>)>(MAX_CHUNKS_UNDER_WAY);
    let read = async {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut bytes).await {
            left();
            if chunks.send((Instant::now() + delay, bytes[..length].to_vec())).await.is_err() {
                return;
            }
        }
        drop(chunks);
    };
    let write = async {
        while let Some((arrives, chunk)) = under_way.recv().await {
            sleep_until(arrives).await;
            arrived();
            if to.write_all(&chunk).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}
