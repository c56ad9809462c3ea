//! `Site`: a small server on loopback that speaks as much of Mastodon and Moebooru as gallery-dl asks, and
//! has files with known bytes.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const FILE_BYTES: usize = 200_000;
const MAX_HEAD: usize = 64 << 10;
/// Answers of 429 before an account answers.
const REFUSALS: usize = 1;

pub struct Site {
    pub address: SocketAddr,
    state: Arc<State>,
    _server: JoinSet<()>,
}

#[derive(Default)]
struct State {
    /// Head of each request, in lower case but for its first line.
    heads: Mutex<Vec<String>>,
    stalls: AtomicBool,
    /// Address of the files, unless they are here.
    files: Mutex<Option<SocketAddr>>,
}

impl Site {
    pub async fn start() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let mut server = JoinSet::new();
        server.spawn(listen(listener, address, state.clone()));
        Site { address, state, _server: server }
    }

    /// Files below `/slow/` stop in their middle while this is on.
    pub fn stall(&self, stalls: bool) {
        self.state.stalls.store(stalls, Ordering::SeqCst);
    }

    /// Posts point at the files of another site.
    pub fn with_files_of(&self, other: &Site) {
        *self.state.files.lock().unwrap() = Some(other.address);
    }

    pub fn heads(&self) -> Vec<String> {
        self.state.heads.lock().unwrap().clone()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn account(&self, name: &str) -> String {
        format!("mastodon:{}", self.url(&format!("/@{name}")))
    }
}

/// The oracle: the bytes of a file, by its name.
pub fn content(name: &str) -> Vec<u8> {
    let header: &[u8] =
        if name.ends_with(".mp4") { b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" } else { b"\xff\xd8\xff\xe0" };
    let seed: u32 = name.bytes().fold(7, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let noise = (0..FILE_BYTES as u32).map(|at| (at.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as u8);
    header.iter().copied().chain(noise).collect()
}

async fn listen(listener: TcpListener, address: SocketAddr, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        connections.spawn(serve(stream, address, state.clone()));
    }
}

async fn serve(mut stream: TcpStream, address: SocketAddr, state: Arc<State>) {
    let Some(head) = read_head(&mut stream).await else { return };
    let line = head.lines().next().unwrap_or_default().to_owned();
    let answer = answer(&line, &head, address, &state);
    state.heads.lock().unwrap().push(head);
    let half = answer.len() / 2;
    let stalls = line.starts_with("GET /slow/") && state.stalls.load(Ordering::SeqCst);
    let sent = stream.write_all(if stalls { &answer[..half] } else { &answer }).await;
    if stalls && sent.is_ok() {
        // until the client gives up
        let _ = stream.read(&mut [0]).await;
    }
    let _ = stream.shutdown().await;
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = vec![];
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.ok()?;
        head.push(byte);
        assert!(head.len() < MAX_HEAD);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let (line, fields) = text.split_once("\r\n")?;
    Some(format!("{line}\n{}", fields.to_lowercase()))
}

fn answer(line: &str, head: &str, address: SocketAddr, state: &State) -> Vec<u8> {
    let path = line.split(' ').nth(1).unwrap_or_default();
    let parts: Vec<&str> = path.split(['/', '?']).skip(1).collect();
    match parts.as_slice() {
        ["api", "v1", "accounts", "lookup", query] => lookup(query.trim_start_matches("acct=")),
        ["api", "v1", "accounts", "search", ..] => json_answer(200, "", &json!([])),
        ["api", "v1", "accounts", name, "statuses", ..] => {
            let files = state.files.lock().unwrap().unwrap_or(address);
            let refusals = state.heads.lock().unwrap().iter().filter(|head| head.contains("/statuses")).count();
            statuses(name, files, refusals)
        }
        ["post.json", query] if query.contains("tags=challenge") => {
            json_answer(403, "server: cloudflare\r\ncf-mitigated: challenge\r\n", &json!({}))
        }
        ["post.json", query] => json_answer(code_in(query), "", &json!([])),
        ["media" | "slow", name, ..] => file(name, head),
        ["status", name] => json_answer(code_in(name), "", &json!({})),
        _ => json_answer(404, "", &json!({})),
    }
}

fn lookup(name: &str) -> Vec<u8> {
    match name {
        "gone" => json_answer(404, "", &json!({"error": "Record not found"})),
        name => json_answer(200, "", &json!({"id": name, "acct": name})),
    }
}

fn statuses(name: &str, files: SocketAddr, refusals: usize) -> Vec<u8> {
    let limit = "x-ratelimit-reset: 2026-01-01T00:00:00.000Z\r\n";
    match name {
        "login" => return json_answer(401, "", &json!({"error": "The access token is invalid"})),
        "busy" if refusals < REFUSALS => return json_answer(429, limit, &json!({"error": "Too many requests"})),
        "empty" => return json_answer(200, "", &json!([])),
        _ => {}
    }
    let file = |name: &str| json!({"id": name, "type": "image", "url": format!("http://{files}/{name}")});
    let last = match name {
        "half" => "status/404.jpg",
        "slow" => "slow/d.jpg",
        _ => "media/d.jpg",
    };
    let posts = [("100", vec!["media/a.jpg", "media/b.jpg"]), ("99", vec!["media/c.jpg"]), ("98", vec![last])];
    let post = |(id, names): (&str, Vec<&str>)| {
        json!({
            "id": id, "created_at": "2026-01-02T03:04:05.000Z", "account": {"id": name, "acct": name, "username": name},
            "reblog": null, "in_reply_to_id": null, "tags": [], "content": "text",
            "media_attachments": names.into_iter().map(file).collect::<Vec<Value>>(),
        })
    };
    json_answer(200, "", &posts.into_iter().map(post).collect())
}

/// Answers with ranges, and a strong ETag.
fn file(name: &str, head: &str) -> Vec<u8> {
    let content = content(name);
    let media_type = if name.ends_with(".mp4") { "video/mp4" } else { "image/jpeg" };
    let fields = format!("content-type: {media_type}\r\naccept-ranges: bytes\r\netag: \"{name}\"\r\n");
    let begin = head.lines().find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse().ok());
    match begin {
        Some(begin) if begin < content.len() => {
            let range = format!("content-range: bytes {begin}-{}/{}\r\n", content.len() - 1, content.len());
            response(206, &(fields + &range), &content[begin..])
        }
        _ => response(200, &fields, &content),
    }
}

fn code_in(text: &str) -> u16 {
    let digits: String = text.chars().skip_while(|letter| !letter.is_ascii_digit()).take(3).collect();
    digits.parse().unwrap_or(200)
}

fn json_answer(status: u16, fields: &str, body: &Value) -> Vec<u8> {
    response(status, &format!("content-type: application/json\r\n{fields}"), body.to_string().as_bytes())
}

fn response(status: u16, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} Said\r\n{fields}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}
