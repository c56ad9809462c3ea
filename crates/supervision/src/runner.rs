//! `ActorRunner`: the future that drives one supervised actor, so that a crash parks it instead of losing it.
//!
//! It polls the actor's `ContextFut` under `catch_unwind`. A crash leaves the mailbox intact and is reported
//! to the parent, which decides; a resume rebuilds the actor's state in place. So its address stays valid,
//! queued messages survive, and only the message that crashed it is lost. (actix's own Supervisor does not
//! restart after a panic, and keeps the old state.) It must not know what the actor does.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, Instant};

use actix::dev::{ContextFut, channel};
use actix::prelude::*;
use tokio::sync::mpsc;

use super::panics;

const MAX_MAILBOX: usize = 256;

/// How an actor ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Normal,
    /// The panic's text and place.
    Panic(String),
    /// `make` panicked, with that text and place: there is nothing to restart.
    NeverBegan(String),
    /// Its thread ended under it.
    ThreadEnded,
}

impl Exit {
    /// Whether there is nothing left that a restart could rebuild.
    pub fn is_final(&self) -> bool {
        matches!(self, Exit::NeverBegan(_) | Exit::ThreadEnded)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Normal => f.write_str("it stopped unexpectedly"),
            Exit::Panic(text) => write!(f, "panic: {text}"),
            Exit::NeverBegan(text) => write!(f, "it could not be created: panic: {text}"),
            Exit::ThreadEnded => f.write_str("its thread ended"),
        }
    }
}

/// A child has exited. After [`Exit::Normal`] and [`Exit::Panic`] its runner is parked until the parent
/// resumes or drops it; after the others there is none.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct ChildExited {
    pub child_index: usize,
    pub exit: Exit,
}

/// Time since which a runner is in its present poll, or parked; readable from any thread. Zero = it is not.
#[derive(Debug, Default)]
pub struct PollTimes {
    busy_since: AtomicU64,
    parked_since: AtomicU64,
}

impl PollTimes {
    /// How long the actor has been inside one poll; zero when it is not.
    pub fn busy_for(&self) -> Duration {
        elapsed_since(&self.busy_since)
    }

    /// How long the actor has waited for its parent's decision; zero when it does not.
    pub fn parked_for(&self) -> Duration {
        elapsed_since(&self.parked_since)
    }
}

fn elapsed_since(millis: &AtomicU64) -> Duration {
    match millis.load(Ordering::Relaxed) {
        0 => Duration::ZERO,
        since => Duration::from_millis(monotonic_millis().saturating_sub(since)),
    }
}

/// The parent's end of a runner; dropping it discards the actor.
pub struct RunnerHandle {
    /// Unbounded in type only: a parent resumes once an exit.
    resumes: mpsc::UnboundedSender<Resume>,
    pub poll_times: Arc<PollTimes>,
}

impl RunnerHandle {
    /// Rebuilds a parked actor in place.
    pub fn resume(&self) {
        let _ = self.resumes.send(Resume);
    }
}

struct Resume;

/// Starts `make()` on `arbiter` in a runner of its own; its exits are sent to `parent` with `child_index`.
/// Runners of one thread may share `poll_times`: one of them is polled at a time.
pub fn start<A>(
    arbiter: &ArbiterHandle,
    child_index: usize,
    parent: Recipient<ChildExited>,
    poll_times: Arc<PollTimes>,
    make: impl FnOnce() -> A + Send + 'static,
) -> (Addr<A>, RunnerHandle)
where
    A: Actor<Context = Context<A>> + Supervised,
{
    panics::install_hook();
    let (sender, receiver) = channel::channel::<A>(MAX_MAILBOX);
    let address = Addr::new(sender);
    let (resumes, inbox) = mpsc::unbounded_channel();
    let handle = RunnerHandle { resumes, poll_times: poll_times.clone() };
    arbiter.spawn_fn(move || {
        let made = catch_unwind(AssertUnwindSafe(|| Context::with_receiver(receiver).into_future(make())));
        match made {
            Ok(actor) => {
                actix_rt::spawn(ActorRunner {
                    actor: Some(actor),
                    resumes: inbox,
                    parent,
                    poll_times,
                    child_index,
                    parked: false,
                });
            }
            Err(panic) => {
                parent.do_send(ChildExited { child_index, exit: Exit::NeverBegan(panics::text(panic.as_ref())) })
            }
        }
    });
    (address, handle)
}

struct ActorRunner<A: Actor<Context = Context<A>> + Supervised> {
    actor: Option<ContextFut<A, Context<A>>>,
    resumes: mpsc::UnboundedReceiver<Resume>,
    parent: Recipient<ChildExited>,
    poll_times: Arc<PollTimes>,
    child_index: usize,
    parked: bool,
}

impl<A: Actor<Context = Context<A>> + Supervised> Unpin for ActorRunner<A> {}

impl<A: Actor<Context = Context<A>> + Supervised> Future for ActorRunner<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<()> {
        loop {
            match self.resumes.poll_recv(task) {
                Poll::Ready(Some(Resume)) if self.rebuild() => continue,
                Poll::Ready(_) => {
                    self.discard();
                    return Poll::Ready(());
                }
                Poll::Pending => break,
            }
        }
        if !self.parked {
            self.poll_actor(task);
        }
        Poll::Pending
    }
}

impl<A: Actor<Context = Context<A>> + Supervised> ActorRunner<A> {
    fn poll_actor(&mut self, task: &mut TaskContext<'_>) {
        let Some(actor) = self.actor.as_mut() else { return };
        self.poll_times.busy_since.store(monotonic_millis(), Ordering::Relaxed);
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(actor).poll(task)));
        self.poll_times.busy_since.store(0, Ordering::Relaxed);
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(())) => self.park(Exit::Normal),
            Err(panic) => self.park(Exit::Panic(panics::text(panic.as_ref()))),
        }
    }

    /// The channel of resumes holds our waker already: the parent's answer wakes us.
    fn park(&mut self, exit: Exit) {
        self.parked = true;
        self.poll_times.parked_since.store(monotonic_millis(), Ordering::Relaxed);
        self.parent.do_send(ChildExited { child_index: self.child_index, exit });
    }

    /// False when no address of the actor is left.
    fn rebuild(&mut self) -> bool {
        let Some(actor) = self.actor.as_mut() else { return false };
        self.parked = false;
        self.poll_times.parked_since.store(0, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| actor.restart())) {
            Ok(connected) => connected,
            Err(panic) => {
                self.park(Exit::Panic(panics::text(panic.as_ref())));
                true
            }
        }
    }

    /// Runs `stopped()` once, never while unwinding.
    fn discard(&mut self) {
        let Some(mut actor) = self.actor.take() else { return };
        let _ = catch_unwind(AssertUnwindSafe(|| {
            actor.ctx().stop();
            let _ = Pin::new(&mut actor).poll(&mut TaskContext::from_waker(Waker::noop()));
        }));
        let _ = catch_unwind(AssertUnwindSafe(move || drop(actor)));
    }
}

impl<A: Actor<Context = Context<A>> + Supervised> Drop for ActorRunner<A> {
    fn drop(&mut self) {
        if self.actor.is_some() {
            self.discard();
            if !self.parked {
                self.park(Exit::ThreadEnded);
            }
        }
    }
}

fn monotonic_millis() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64 + 1
}
