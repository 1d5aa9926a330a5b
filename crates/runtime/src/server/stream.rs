//! A connection with timeouts for its client: to send the next request, and to read the response.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::Limits;
use super::connections::{Phase, Slot};

pub(super) struct Stream<S> {
    inner: S,
    slot: Arc<Slot>,
    limits: Arc<Limits>,
    /// Timeout of reading.
    read: Pin<Box<Sleep>>,
    /// Timeout of writing; `None` unless a write waits for the client.
    write: Option<Pin<Box<Sleep>>>,
}

impl<S> Stream<S> {
    pub fn new(inner: S, slot: Arc<Slot>, limits: Arc<Limits>) -> Self {
        Self { inner, slot, limits, read: Box::pin(sleep_until(Instant::now())), write: None }
    }

    fn read_in_time(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let (limit, since) = match self.slot.phase() {
            Some((Phase::Head, since)) => (self.limits.head, since),
            Some((Phase::Idle, since)) => (self.limits.idle, since),
            // The function that reads the body limits its time.
            Some(_) => return Poll::Pending,
            None => return Poll::Ready(io::ErrorKind::ConnectionAborted.into()),
        };
        if self.read.deadline() != since + limit {
            self.read.as_mut().reset(since + limit);
        }
        ready!(self.read.as_mut().poll(cx));
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    fn written_in_time<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_pending() {
            let deadline = || Box::pin(sleep_until(Instant::now() + self.limits.write));
            ready!(self.write.get_or_insert_with(deadline).as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.inner).poll_read(cx, buffer) {
            Poll::Pending => self.read_in_time(cx).map(Err),
            ready => {
                let is_more = buffer.filled().len() > before;
                if is_more && matches!(self.slot.phase(), Some((Phase::Idle, _))) {
                    self.slot.enter(Phase::Head);
                }
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, buffer);
        self.written_in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, buffers);
        self.written_in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    /// hyper flushes after it has written all it has. The timeout of writing begins when the client first delays a
    /// write, and ends here.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        if let Poll::Ready(Ok(())) = flushed {
            self.write = None;
            if matches!(self.slot.phase(), Some((Phase::Answer, _))) {
                self.slot.enter(Phase::Idle);
            }
        }
        self.written_in_time(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut_down = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.written_in_time(cx, shut_down)
    }
}
