//! `Streams`: the four pipes of a tool. stdin and the configuration are written, stdout is cut into lines,
//! stderr is kept.
//!
//! In: the pipes, and a channel for the lines. Out: lines; of one that is longer than [`MAX_LINE_BYTES`], as many bytes.
//! Memory is bounded whatever a tool prints: nothing is read while the channel is full. All state is in `Streams`, so
//! that its futures may be dropped at any await.

use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::keeper::Pipes;
use super::stderr::Stderr;

/// Maximum length of a line of stdout, without its newline; the rest of a longer one is left out.
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// Maximum length of such a rest: a longer line has no end.
const MAX_CUT_BYTES: usize = 64 << 20;
/// Maximum number of lines that wait for their reader.
pub const MAX_LINES_IN_FLIGHT: usize = 8;

const BUFFER: usize = 64 << 10;
/// Bounds of reading after a tool's end. A pipe has its rest at once; a process that left the group may hold
/// it open for ever.
const MAX_REST_BYTES: u64 = 2 << 20;
const MAX_REST_WAIT: Duration = Duration::from_secs(1);

pub struct Streams {
    stdin: Feed<ChildStdin>,
    fd3: Feed<pipe::Sender>,
    stdout: Option<BufReader<ChildStdout>>,
    stderr: Option<BufReader<ChildStderr>>,
    lines: Lines,
    messages: Stderr,
    activity: Activity,
}

/// Signs of life, for observers while the streams are read.
#[derive(Clone, Default)]
pub struct Activity(Arc<Signs>);

#[derive(Default)]
struct Signs {
    bytes: AtomicU64,
    waits_for_reader: AtomicBool,
}

impl Activity {
    /// Number of bytes that the tool has printed.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// The tool may be unable to print, since its last line was not received yet.
    pub fn waits_for_reader(&self) -> bool {
        self.0.waits_for_reader.load(Ordering::Relaxed)
    }

    fn printed(&self, bytes: usize) {
        self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Streams {
    pub fn new(
        pipes: Pipes,
        stdin: Vec<u8>,
        fd3: Option<Vec<u8>>,
        lines: mpsc::Sender<Vec<u8>>,
        secrets: Vec<String>,
    ) -> io::Result<Streams> {
        let input = pipes.stdin.map(ChildStdin::from_std).transpose()?;
        let configuration = pipes.fd3.map(|pipe| pipe::Sender::from_owned_fd(OwnedFd::from(pipe))).transpose()?;
        let stdout = pipes.stdout.map(ChildStdout::from_std).transpose()?;
        let stderr = pipes.stderr.map(ChildStderr::from_std).transpose()?;
        Ok(Streams {
            stdin: Feed::new(input, stdin),
            fd3: Feed::new(configuration, fd3.unwrap_or_default()),
            stdout: stdout.map(|pipe| BufReader::with_capacity(BUFFER, pipe)),
            stderr: stderr.map(|pipe| BufReader::with_capacity(BUFFER, pipe)),
            lines: Lines { sender: lines, line: vec![], state: LineState::Begun, cut: 0 },
            messages: Stderr::new(secrets),
            activity: Activity::default(),
        })
    }

    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// Moves bytes for as long as it is polled; returns only when a line has no end.
    pub async fn pump(&mut self) {
        while !self.lines.is_endless() {
            self.step().await;
        }
    }

    /// The same, and throws stdout away from a line on that has no end. Never returns.
    pub async fn pump_all(&mut self) {
        loop {
            self.step().await;
        }
    }

    /// Reads the rest of the output after the tool's end, in bounds; false when a line has no end.
    pub async fn drain(&mut self) -> bool {
        let end = self.activity.bytes() + MAX_REST_BYTES;
        let mut patience = MAX_REST_WAIT;
        while (self.stdout.is_some() || self.stderr.is_some() || self.lines.is_whole()) && self.activity.bytes() < end {
            // its reader may take its time
            if self.lines.is_whole() {
                self.lines.send(&self.activity).await;
                continue;
            }
            let begun = Instant::now();
            if timeout(patience, self.step()).await.is_err() {
                break;
            }
            patience = patience.saturating_sub(begun.elapsed());
        }
        !self.lines.is_endless()
    }

    /// The end of stderr, and the first error.
    pub fn into_messages(self, failed: bool) -> (String, Option<String>) {
        self.messages.finish(failed)
    }

    /// One write or read, whichever can be done; pends for ever when nothing is left to do.
    async fn step(&mut self) {
        let Streams { stdin, fd3, stdout, stderr, lines, messages, activity } = self;
        tokio::select! {
            () = stdin.step(), if stdin.is_open() => {}
            () = fd3.step(), if fd3.is_open() => {}
            () = lines.step(stdout, activity), if stdout.is_some() || lines.is_whole() => {}
            () = keep(messages, stderr, activity), if stderr.is_some() => {}
            else => pending().await,
        }
    }
}

async fn keep(messages: &mut Stderr, pipe: &mut Option<BufReader<ChildStderr>>, activity: &Activity) {
    let Some(reader) = pipe else { return };
    match reader.fill_buf().await {
        Ok(bytes) if !bytes.is_empty() => {
            let length = bytes.len();
            messages.push(bytes);
            reader.consume(length);
            activity.printed(length);
        }
        _ => *pipe = None,
    }
}

/// Bytes on their way into a pipe, which is closed after the last one.
struct Feed<W> {
    pipe: Option<W>,
    bytes: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> Feed<W> {
    fn new(pipe: Option<W>, bytes: Vec<u8>) -> Feed<W> {
        Feed { pipe, bytes, written: 0 }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    async fn step(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let rest = self.bytes.get(self.written..).unwrap_or_default();
        match pipe.write(rest).await {
            Ok(written) if written > 0 => self.written += written,
            // all is written, or the tool does not read it: its exit says whether it needed it
            _ => self.pipe = None,
        }
    }
}

struct Lines {
    sender: mpsc::Sender<Vec<u8>>,
    line: Vec<u8>,
    state: LineState,
    /// Bytes of the line that are left out.
    cut: usize,
}

#[derive(PartialEq, Eq)]
enum LineState {
    Begun,
    /// A whole line, which waits for its reader.
    Whole,
    /// The begin of a line that is too long, which waits for its reader.
    Cut,
    /// The rest of it is left out.
    Skipped,
    /// A line without end: all that follows is thrown away.
    Endless,
}

impl Lines {
    fn is_whole(&self) -> bool {
        matches!(self.state, LineState::Whole | LineState::Cut)
    }

    fn is_endless(&self) -> bool {
        self.state == LineState::Endless
    }

    async fn step(&mut self, pipe: &mut Option<BufReader<ChildStdout>>, activity: &Activity) {
        match self.is_whole() {
            true => self.send(activity).await,
            false => self.read(pipe, activity).await,
        }
    }

    async fn read(&mut self, pipe: &mut Option<BufReader<ChildStdout>>, activity: &Activity) {
        let Some(reader) = pipe else { return };
        // with its newline; and a line that is longer by one byte is seen to be too long
        let room = MAX_LINE_BYTES + 1 - self.line.len();
        let before = self.line.len();
        let read = reader.take(room as u64).read_until(b'\n', &mut self.line).await;
        activity.printed(self.line.len() - before);
        let has_ended = !matches!(read, Ok(bytes) if bytes > 0);
        if has_ended {
            *pipe = None;
        }
        self.classify(has_ended);
    }

    fn classify(&mut self, has_ended: bool) {
        let has_newline = self.line.ends_with(b"\n");
        if has_newline {
            self.line.pop();
        }
        match () {
            () if self.is_endless() => self.line.clear(),
            () if self.state == LineState::Skipped => self.skip(has_newline),
            () if self.line.len() > MAX_LINE_BYTES => {
                self.state = LineState::Cut;
                self.line.truncate(MAX_LINE_BYTES);
            }
            () if (has_newline || has_ended) && !self.line.is_empty() => self.state = LineState::Whole,
            () => {}
        }
    }

    fn skip(&mut self, has_newline: bool) {
        self.cut += self.line.len();
        self.line.clear();
        self.state = match () {
            () if has_newline => LineState::Begun,
            () if self.cut > MAX_CUT_BYTES => LineState::Endless,
            () => LineState::Skipped,
        };
    }

    async fn send(&mut self, activity: &Activity) {
        activity.0.waits_for_reader.store(true, Ordering::Relaxed);
        let permit = self.sender.reserve().await;
        activity.0.waits_for_reader.store(false, Ordering::Relaxed);
        let line = std::mem::take(&mut self.line);
        if let Ok(permit) = permit {
            permit.send(line);
        }
        self.cut = 0;
        self.state = if self.state == LineState::Cut { LineState::Skipped } else { LineState::Begun };
    }
}
