//! `FaultProxy`: a TCP port in front of a database server's socket, whose network can fall silent or lose an
//! answer.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// The end of every answer; one byte follows, which says whether a transaction is open.
const READY_FOR_QUERY: &[u8] = b"Z\0\0\0\x05";

/// The server is ready for the rows of a COPY.
const COPY_IN: u8 = b'G';

pub struct FaultProxy {
    address: SocketAddr,
    database: String,
    network: Arc<Network>,
}

struct Network {
    server: PathBuf,
    is_silent: watch::Sender<bool>,
    /// The number of answers to lose that hold these bytes.
    marker: Mutex<Option<(Vec<u8>, usize)>>,
    /// The answer to the next request that holds these bytes is lost.
    request_marker: Mutex<Option<Vec<u8>>>,
    lost_answers: AtomicUsize,
}

impl FaultProxy {
    /// Starts in front of the server of `url`, as the test databases have it: `postgresql:///NAME?host=DIR&user=drover`.
    pub async fn start(url: &str) -> FaultProxy {
        let (database, server) = server_of(url);
        let network = Arc::new(Network {
            server,
            is_silent: watch::Sender::new(false),
            marker: Mutex::default(),
            request_marker: Mutex::default(),
            lost_answers: AtomicUsize::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(accept(listener, network.clone()));
        FaultProxy { address, database, network }
    }

    pub fn url(&self) -> String {
        format!("postgresql://drover@{}/{}?sslmode=disable", self.address, self.database)
    }

    /// Silences the network, or ends the silence: nothing arrives and nothing is refused; afterwards all of it arrives.
    pub fn set_silent(&self, silent: bool) {
        self.network.is_silent.send_replace(silent);
    }

    /// The next answer that holds `marker` does not arrive: its connection is cut instead.
    pub fn lose_answer_with(&self, marker: &str) {
        self.lose_answers_with(marker, 1);
    }

    pub fn lose_answers_with(&self, marker: &str, times: usize) {
        *self.network.marker.lock().unwrap() = Some((marker.as_bytes().to_vec(), times));
    }

    /// The next request that holds `marker` is carried out, and its answer does not arrive: its connection is
    /// cut instead.
    pub fn lose_answer_to(&self, marker: &str) {
        *self.network.request_marker.lock().unwrap() = Some(marker.as_bytes().to_vec());
    }

    pub fn lost_answers(&self) -> usize {
        self.network.lost_answers.load(Ordering::Relaxed)
    }
}

/// The name and the socket of a test's database.
pub fn server_of(url: &str) -> (String, PathBuf) {
    let (name, query) = url.strip_prefix("postgresql:///").unwrap().split_once('?').unwrap();
    let dir = query.split('&').find_map(|field| field.strip_prefix("host=")).unwrap();
    let dir = percent_encoding::percent_decode_str(dir).decode_utf8().unwrap().into_owned();
    (name.to_owned(), PathBuf::from(dir).join(".s.PGSQL.5432"))
}

async fn accept(listener: TcpListener, network: Arc<Network>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(connection(client, network.clone()));
    }
}

/// Ends when either side does, or when its answer is lost.
async fn connection(mut client: TcpStream, network: Arc<Network>) {
    let mut server = UnixStream::connect(&network.server).await.unwrap();
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let is_marked = AtomicBool::new(false);
    tokio::select! {
        _ = forward(from_client, to_server, &network, &is_marked) => {}
        _ = forward_answers(from_server, to_client, &network, &is_marked) => {}
    }
}

/// `is_marked`: whether the answer to the last request is to be lost.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    network: &Network,
    is_marked: &AtomicBool,
) -> Option<()> {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let length = from.read(&mut bytes).await.ok().filter(|length| *length > 0)?;
        network.until_heard().await;
        if network.loses_answer_to(&bytes[..length]) {
            is_marked.store(true, Ordering::Relaxed);
        }
        to.write_all(&bytes[..length]).await.ok()?;
    }
}

async fn forward_answers(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    network: &Network,
    is_marked: &AtomicBool,
) -> Option<()> {
    let mut answer = Vec::new();
    let mut bytes = vec![0; 64 << 10];
    loop {
        let length = from.read(&mut bytes).await.ok().filter(|length| *length > 0)?;
        network.until_heard().await;
        answer.extend_from_slice(&bytes[..length]);
        if is_marked.load(Ordering::Relaxed) {
            if is_whole(&answer) {
                network.lost_answers.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            continue;
        }
        if network.marker.lock().unwrap().is_some() && !is_whole(&answer) && answer.len() < 1 << 20 {
            continue; // the whole answer decides
        }
        if network.loses(&answer) {
            return None;
        }
        to.write_all(&std::mem::take(&mut answer)).await.ok()?;
    }
}

/// Whether the server says no more before it hears of its client: it is ready for the next query, or for the
/// rows of a COPY.
fn is_whole(answer: &[u8]) -> bool {
    let is_ready = answer.split_last().is_some_and(|(_, before)| before.ends_with(READY_FOR_QUERY));
    is_ready || last_message(answer) == Some(COPY_IN)
}

/// The kind of the message with which an answer ends.
fn last_message(answer: &[u8]) -> Option<u8> {
    let (mut rest, mut last) = (answer, None);
    while let [kind, length @ ..] = rest {
        let length = u32::from_be_bytes(*length.first_chunk()?) as usize;
        (last, rest) = (Some(*kind), rest.get(1 + length..)?);
    }
    last
}

impl Network {
    async fn until_heard(&self) {
        let _ = self.is_silent.subscribe().wait_for(|is_silent| !is_silent).await;
    }

    fn loses_answer_to(&self, request: &[u8]) -> bool {
        self.request_marker.lock().unwrap().take_if(|marker| holds(request, marker)).is_some()
    }

    fn loses(&self, answer: &[u8]) -> bool {
        let mut wanted = self.marker.lock().unwrap();
        let Some((marker, times)) = wanted.as_mut() else { return false };
        if !holds(answer, marker) {
            return false;
        }
        *times -= 1;
        if *times == 0 {
            *wanted = None;
        }
        self.lost_answers.fetch_add(1, Ordering::Relaxed);
        true
    }
}

fn holds(bytes: &[u8], marker: &[u8]) -> bool {
    bytes.windows(marker.len()).any(|window| window == marker)
}
