//! `ClientStream`: the socket of a client. It ends where the client reads too slowly, and no refusal leaves
//! it without a reason.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::pace::Pace;
use super::refusal::BareRefusal;

/// Maximum bytes of an answer that the system may buffer: with more, a slow line would block writes for
/// longer than a client has time.
#[cfg(target_os = "linux")]
const MAX_UNSENT_BYTES: u32 = 128 * 1024;

pub struct ClientStream {
    stream: TcpStream,
    pace: Pace,
    /// Deadline of a write that waits.
    late: Option<Pin<Box<Sleep>>>,
    /// A refusal that was given its reason, as far as it is not written.
    refusal: Vec<u8>,
}

impl ClientStream {
    /// `max_behind`: how long the client may read nothing.
    pub fn new(stream: TcpStream, max_behind: Duration) -> Self {
        // answers are small: waiting to fill packets only delays them
        let _ = stream.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(MAX_UNSENT_BYTES);
        ClientStream { stream, pace: Pace::new(max_behind, Instant::now()), late: None, refusal: Vec::new() }
    }

    fn poll_write_paced(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(Ok(written)) => {
                self.pace.wrote(written, Instant::now());
                Poll::Ready(Ok(written))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => self.poll_late(context),
        }
    }

    /// Ready with an error once the client is too late.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let now = Instant::now();
        let due = self.pace.blocked(now);
        if due > now {
            let late = self.late.get_or_insert_with(|| Box::pin(sleep_until(due)));
            late.as_mut().reset(due);
            ready!(late.as_mut().poll(context));
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let unsent = std::mem::take(&mut self.refusal);
            let written = self.poll_write_paced(context, &unsent);
            self.refusal = unsent;
            self.refusal.drain(..ready!(written)?);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

/// Without writes of several buffers, so that one buffer has all that is to be sent, in its order.
impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_refusal(context))?;
        let Some(bare) = BareRefusal::at_end_of(bytes) else { return self.poll_write_paced(context, bytes) };
        if bare.at > 0 {
            return self.poll_write_paced(context, &bytes[..bare.at]);
        }
        // flushed later
        self.refusal = bare.with_reason().unwrap_or_default();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
