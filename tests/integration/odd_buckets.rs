//! A bucket whose service answers oddly: a real speaker of S3, and a front that changes its answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rstest::rstest;
use settings::Config;
use storage::{Payloads, Place};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::buckets::small;
use testkit::S3;

const OWNER: &str = "id 5 9";

/// Server in front of a bucket, which changes its answers.
struct OddFront {
    s3: S3,
    address: SocketAddr,
    _serving: JoinSet<()>,
}

/// The answer to a request in place of the bucket's, which has done what was asked.
type Change = Arc<dyn Fn(&str, Vec<u8>) -> Vec<u8> + Send + Sync>;

impl OddFront {
    async fn start(change: impl Fn(&str, Vec<u8>) -> Vec<u8> + Send + Sync + 'static) -> OddFront {
        let change: Change = Arc::new(change);
        let (s3, listener) = (S3::start().await, TcpListener::bind("127.0.0.1:0").await.unwrap());
        let (address, behind) = (listener.local_addr().unwrap(), s3.address());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(answer(stream, behind, change.clone()));
            }
        });
        OddFront { s3, address, _serving: serving }
    }

    fn payloads(&self) -> Payloads {
        let endpoint = format!("http://{}", self.address);
        let settings = self.s3.settings();
        let mut settings: Vec<(&'static str, &str)> =
            settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
        settings.push(("storage.endpoint", &endpoint));
        Payloads::new(Place::of(&Config::with(&settings).unwrap()).unwrap(), OWNER)
    }
}

/// One request and its answer.
async fn answer(mut client: TcpStream, behind: SocketAddr, change: Change) {
    let Some(request) = read_request(&mut client).await else { return };
    let end = request.windows(2).position(|end| end == b"\r\n").unwrap();
    let line = String::from_utf8_lossy(&request[..end]).into_owned();
    let mut bucket = TcpStream::connect(behind).await.unwrap();
    bucket.write_all(&request[..end + 2]).await.unwrap();
    bucket.write_all(b"connection: close\r\n").await.unwrap();
    bucket.write_all(&request[end + 2..]).await.unwrap();
    let mut answer = Vec::new();
    bucket.read_to_end(&mut answer).await.unwrap();
    let _ = client.write_all(&change(&line, answer)).await;
    let _ = client.shutdown().await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if bytes.len() >= end + 4 + length.unwrap_or(0) {
                return Some(bytes);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

#[rstest]
#[case::overloaded(b"HTTP/1.1 503 Slow Down\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")]
#[case::no_answer(b"")]
#[case::a_cut_answer(b"HTTP/1.1 200 O")]
#[case::no_http(b"nonsense\r\n\r\n")]
#[tokio::test]
async fn a_payload_that_is_stored_is_kept_once_whatever_the_answer_says(#[case] first: &'static [u8]) {
    let asked = AtomicBool::new(false);
    let is_first =
        move |line: &str| line.starts_with("PUT ") && line.contains("store_5_") && !asked.swap(true, Ordering::Relaxed);
    let front = OddFront::start(move |line, answer| if is_first(line) { first.to_vec() } else { answer }).await;
    let ours = front.payloads();
    let file = ours.write(small()).await.unwrap();
    assert_eq!(front.s3.objects(""), std::slice::from_ref(&file.storage_path));
    ours.read(&file.storage_path, &file.sha256).await.unwrap();
}
