//! `SocksReply`: a stream to a SOCKS5 proxy whose reply may hold anything in its reserved byte, which the client library
//! wants to be 0 and other clients ignore.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The reserved byte is the third one of the reply, after the two of the chosen method and, for a password, two more.
const RESERVED: usize = 4;
const RESERVED_AFTER_PASSWORD: usize = 6;
const METHOD: usize = 1;
const PASSWORD: u8 = 2;

pub(super) struct SocksReply<S> {
    stream: S,
    read: usize,
    reserved: usize,
}

impl<S> SocksReply<S> {
    pub fn new(stream: S) -> SocksReply<S> {
        SocksReply { stream, read: 0, reserved: RESERVED }
    }

    pub fn into_inner(self) -> S {
        self.stream
    }

    fn clear(&mut self, bytes: &mut [u8]) {
        for byte in bytes.iter_mut().take((self.reserved + 3).saturating_sub(self.read)) {
            if self.read == METHOD && *byte == PASSWORD {
                self.reserved = RESERVED_AFTER_PASSWORD;
            }
            if self.read == self.reserved {
                *byte = 0;
            }
            self.read += 1;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SocksReply<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.clear(buffer.filled_mut().get_mut(before..).unwrap_or_default());
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SocksReply<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
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
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::without_a_password(&[5, 0, 5, 0, 9, 1, 9, 9, 9, 9, 9, 9], 4)]
    #[case::with_a_password(&[5, 2, 1, 0, 5, 0, 9, 1, 9, 9, 9, 9, 9, 9], 6)]
    fn the_reserved_byte_alone_is_cleared(
        #[case] bytes: &[u8],
        #[case] place: usize,
        #[values(1, 2, 100)] step: usize,
    ) {
        let (mut stream, mut read) = (SocksReply::new(()), bytes.to_vec());
        read.chunks_mut(step).for_each(|part| stream.clear(part));
        let mut expected = bytes.to_vec();
        expected[place] = 0;
        assert_eq!(read, expected);
    }
}
