//! `Lines`: a bounded queue of log lines, which a thread of its own writes to a stream.
//!
//! In: formatted lines, from any thread, never blocking. Out: the same lines in order, except lines that find
//! the queue full, which are counted. So a reader of stderr that stops reading cannot stop the process.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::{events, metrics};

/// A line is rarely longer than a kilobyte.
const MAX_QUEUED_LINES: usize = 4096;
const POLL: Duration = Duration::from_millis(5);

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Lines {
    queue: SyncSender<Entry>,
}

#[derive(Debug)]
enum Entry {
    Line(Vec<u8>),
    /// The text that stays below the lines.
    Status(String),
    /// Answered when every line before it is written.
    Flush(SyncSender<()>),
}

impl Lines {
    /// Starts the thread; it ends with the process.
    pub fn start(stream: impl Write + Send + 'static) -> io::Result<Lines> {
        let (queue, entries) = sync_channel(MAX_QUEUED_LINES);
        thread::Builder::new().name("log".to_owned()).spawn(move || write_all(stream, &entries))?;
        Ok(Lines { queue })
    }

    /// Shows one line below all others, in place of the one before; empty: none. A full queue leaves it as it is.
    pub fn show_status(&self, text: &str) {
        let _ = self.queue.try_send(Entry::Status(text.to_owned()));
    }

    /// Waits until everything logged is written, or `limit` has passed.
    pub fn flush(&self, limit: Duration) {
        let begun = Instant::now();
        let (written, answer) = sync_channel(1);
        let mut entry = Entry::Flush(written);
        while let Err(TrySendError::Full(refused)) = self.queue.try_send(entry) {
            if begun.elapsed() >= limit {
                return;
            }
            entry = refused;
            thread::park_timeout(POLL);
        }
        // an error means that the limit has passed, or that the thread has ended
        let _ = answer.recv_timeout(limit.saturating_sub(begun.elapsed()));
    }
}

impl Write for Lines {
    /// One call is one line, or several whole ones.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.queue.try_send(Entry::Line(bytes.to_vec())).is_err() {
            metrics::LOG_LINES_LOST.inc();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Back to the beginning of a terminal's line, which becomes empty.
const CLEAR_LINE: &str = "\r\u{1b}[K";

fn write_all(mut stream: impl Write, entries: &Receiver<Entry>) {
    let mut status = String::new();
    let mut reported = metrics::LOG_LINES_LOST.get();
    for entry in entries {
        match entry {
            // an error means that the stream is closed: there is no other place to report it
            Entry::Line(bytes) if status.is_empty() => drop(stream.write_all(&bytes)),
            Entry::Line(bytes) => {
                let line = [CLEAR_LINE.as_bytes(), &bytes, status.as_bytes()].concat();
                let _ = stream.write_all(&line).and_then(|()| stream.flush());
            }
            Entry::Status(text) => {
                if status != text {
                    let _ = write!(stream, "{CLEAR_LINE}{text}").and_then(|()| stream.flush());
                }
                status = text;
            }
            Entry::Flush(written) => {
                let _ = stream.flush();
                let _ = written.try_send(());
            }
        }
        let lost = metrics::LOG_LINES_LOST.get();
        if lost > reported {
            events::log_lines_lost(lost - reported);
            reported = lost;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn lines_come_out_in_order() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut lines = Lines::start(writer).unwrap();
        lines.write_all(b"one\n").unwrap();
        lines.write_all(b"two\n").unwrap();
        lines.flush(Duration::from_secs(10));
        let mut text = [0; 8];
        reader.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"one\ntwo\n");
    }

    #[test]
    fn the_status_stays_below_the_lines() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut lines = Lines::start(writer).unwrap();
        lines.show_status("2 run");
        lines.write_all(b"one\n").unwrap();
        lines.show_status("");
        lines.flush(Duration::from_secs(10));
        drop(lines);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("{CLEAR_LINE}2 run{CLEAR_LINE}one\n2 run{CLEAR_LINE}"));
    }

    #[test]
    fn a_reader_that_stops_costs_lines_and_holds_up_no_writer() {
        let (_reader, writer) = io::pipe().unwrap();
        let mut lines = Lines::start(writer).unwrap();
        for _ in 0..3 * MAX_QUEUED_LINES {
            lines.write_all(&[b'x'; 1024]).unwrap();
        }
        lines.flush(Duration::from_millis(50));
        assert!(metrics::LOG_LINES_LOST.get() > 0);
    }
}
