//! A connection that sends nothing after the leader's term is over.
//!
//! [`Term::guard`] checks requests, but another task sends their bytes, a long request in many writes: a process that
//! is suspended in between would send the rest when it resumes. So each write is checked again, right before the system
//! call.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

use crate::leader_election::Term;

pub(super) struct Fenced<S> {
    pub stream: S,
    pub term: Term,
}

impl<S> Fenced<S> {
    fn check(&self) -> io::Result<()> {
        match self.term.is_over() {
            true => Err(io::Error::other("this replica is no longer the leader")),
            false => Ok(()),
        }
    }
}

impl<S: Write + Unpin> Write for Fenced<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: Read + Unpin> Read for Fenced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: Connection> Connection for Fenced<S> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}
