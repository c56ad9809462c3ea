//! `PieceSender`: bytes of a file on their way to the client, in pieces. It waits for a client that reads slowly, for a
//! bounded time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

use super::run::ExportFault;
use contract::exports::ROWS_TRAILER;

/// Maximum time in which a client takes one piece.
const MAX_STALL: Duration = Duration::from_secs(60);
const PIECE_BYTES: usize = 64 << 10;
/// Number of pieces that wait for the client.
const MAX_WAITING: usize = 4;

type Piece = io::Result<Frame<Bytes>>;

/// Body of the answer. It ends with its trailer; without it, it breaks off.
pub struct Pieces {
    waiting: mpsc::Receiver<Piece>,
    is_whole: bool,
}

pub struct PieceSender {
    pieces: mpsc::Sender<Piece>,
    max_stall: Duration,
}

pub fn channel() -> (PieceSender, Pieces) {
    let (pieces, waiting) = mpsc::channel(MAX_WAITING);
    (PieceSender { pieces, max_stall: MAX_STALL }, Pieces { waiting, is_whole: false })
}

impl PieceSender {
    pub async fn send(&self, bytes: Vec<u8>) -> Result<(), ExportFault> {
        let mut rest = Bytes::from(bytes);
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            self.put(Frame::data(piece)).await?;
        }
        Ok(())
    }

    /// Ends the file.
    pub async fn end(&self, rows: u64) -> Result<(), ExportFault> {
        let trailers = HeaderMap::from_iter([(HeaderName::from_static(ROWS_TRAILER), HeaderValue::from(rows))]);
        self.put(Frame::trailers(trailers)).await
    }

    /// Returns when the client has gone.
    pub async fn closed(&self) {
        self.pieces.closed().await;
    }

    async fn put(&self, frame: Frame<Bytes>) -> Result<(), ExportFault> {
        match self.pieces.send_timeout(Ok(frame), self.max_stall).await {
            Ok(()) => Ok(()),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => Err(ExportFault::Stalled(self.max_stall)),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(ExportFault::Gone),
        }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Piece>> {
        let piece = std::task::ready!(self.waiting.poll_recv(context));
        match &piece {
            Some(Ok(frame)) if frame.is_trailers() => self.is_whole = true,
            // the sender ended before the file did: an error makes the server break off
            None if !self.is_whole => {
                self.is_whole = true;
                return Poll::Ready(Some(Err(io::Error::other("the export failed"))));
            }
            _ => {}
        }
        Poll::Ready(piece)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_cut_off() {
        let (mut sender, pieces) = channel();
        sender.max_stall = Duration::ZERO;
        let fault = sender.send(vec![0; (MAX_WAITING + 1) * PIECE_BYTES]).await.unwrap_err();
        assert!(matches!(fault, ExportFault::Stalled(_)), "{fault}");
        drop(sender);
        assert!(pieces.collect().await.is_err(), "a part of the file looks whole");
    }

    #[tokio::test]
    async fn a_whole_file_ends_with_the_number_of_its_rows() {
        let (sender, pieces) = channel();
        sender.send(b"a,b".to_vec()).await.unwrap();
        sender.end(7).await.unwrap();
        drop(sender);
        let whole = pieces.collect().await.unwrap();
        assert_eq!(whole.trailers().unwrap()[ROWS_TRAILER], "7");
        assert_eq!(whole.to_bytes(), "a,b");
    }
}
