//! `Traffic`: the bytes that go over the connections to one proxy, which its vendor bills. `MeteredStream`: a
//! stream that counts them.
//!
//! In: a stream. Out: the same, and the counts. TLS, tunnels and headers are in them; what TCP adds below is
//! not.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    sent: AtomicU64,
    received: AtomicU64,
}

/// Bytes transferred until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes {
    pub sent: u64,
    pub received: u64,
}

pub struct MeteredStream<S> {
    stream: S,
    traffic: Traffic,
}

impl Traffic {
    pub fn bytes(&self) -> Bytes {
        let Counters { sent, received } = &*self.0;
        Bytes { sent: sent.load(Ordering::Relaxed), received: received.load(Ordering::Relaxed) }
    }

    pub fn meter<S>(&self, stream: S) -> MeteredStream<S> {
        MeteredStream { stream, traffic: self.clone() }
    }
}

impl Bytes {
    pub fn since(self, before: Bytes) -> Bytes {
        Bytes { sent: self.sent.saturating_sub(before.sent), received: self.received.saturating_sub(before.received) }
    }
}

impl<S> MeteredStream<S> {
    fn sent(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &result {
            self.traffic.0.sent.fetch_add(*bytes as u64, Ordering::Relaxed);
        }
        result
    }
}

/// The bound that hyper's connectors have for streams.
impl<S: Connection> Connection for MeteredStream<S> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.traffic.0.received.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.sent(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.sent(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_are_counted_in_both_directions() {
        let (near, mut far) = tokio::io::duplex(1024);
        let traffic = Traffic::default();
        let mut near = traffic.meter(near);
        near.write_all(b"a request").await.unwrap();
        let before = traffic.bytes();
        far.write_all(b"an answer").await.unwrap();
        near.read_exact(&mut [0; 9]).await.unwrap();
        let written = near.write_vectored(&[IoSlice::new(b"an"), IoSlice::new(b"other")]).await.unwrap();
        assert_eq!(before, Bytes { sent: 9, received: 0 });
        assert_eq!(traffic.bytes().since(before), Bytes { sent: written as u64, received: 9 });
    }
}
