//! `ClientStream`: the socket of a client. A write that makes no progress for some time fails, and the end
//! waits until the client, too, has sent everything.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_io_timeout::TimeoutWriter;

/// Maximum bytes of an answer that the system may buffer: with more, a slow line would block writes for
/// longer than a client has time.
#[cfg(target_os = "linux")]
const MAX_UNSENT_BYTES: u32 = 128 * 1024;
/// Maximum time that a client may continue sending unread bytes once it has its answer.
const MAX_LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 16 * 1024;

pub struct ClientStream {
    stream: Pin<Box<TimeoutWriter<TcpStream>>>,
    /// The end of [`MAX_LINGER`], once everything is sent.
    linger: Option<Pin<Box<Sleep>>>,
}

impl ClientStream {
    /// `write_idle`: how long the client may read nothing.
    pub fn new(stream: TcpStream, write_idle: Duration) -> Self {
        // answers are small: waiting to fill packets only delays them
        let _ = stream.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(MAX_UNSENT_BYTES);
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(write_idle));
        ClientStream { stream: Box::pin(stream), linger: None }
    }

    /// Waits until the client has closed its side.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; LINGER_BYTES];
        loop {
            let mut unread = ReadBuf::new(&mut bytes);
            ready!(self.stream.as_mut().poll_read(context, &mut unread))?;
            if unread.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(context, into)
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    /// Reads on where the client still sends, as after the refusal of a large body: otherwise the system
    /// would report an error to it, and it might never see the answer.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(self.stream.as_mut().poll_shutdown(context))?;
        }
        let linger = self.linger.get_or_insert_with(|| Box::pin(sleep(MAX_LINGER)));
        if linger.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        self.poll_drain(context)
    }
}
