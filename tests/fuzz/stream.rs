//! `Answering`: a connection in memory whose other end sends its given bytes, whatever it receives, and then
//! closes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub struct Answering<'a> {
    left: &'a [u8],
    /// How many bytes were read of it.
    pub read: Arc<AtomicUsize>,
}

impl<'a> Answering<'a> {
    pub fn new(answer: &'a [u8]) -> Answering<'a> {
        Answering { left: answer, read: Arc::default() }
    }
}

impl AsyncRead for Answering<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (now, later) = self.left.split_at(self.left.len().min(into.remaining()));
        into.put_slice(now);
        self.left = later;
        self.read.fetch_add(now.len(), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Answering<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
