//! `ActorRunner`: the future that drives one supervised actor, so that a crash parks it instead of losing it.
//!
//! It polls the actor's `ContextFut` under `catch_unwind`. A crash leaves the mailbox intact and is reported to the parent, which
//! decides; a resume rebuilds the actor's state in place. So its address stays valid, queued messages survive, and only the
//! message that crashed it is lost. (actix's own Supervisor does not restart after a panic, and keeps the old state.)

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::task::{Context as Poller, Poll, Waker};
use std::time::{Duration, Instant};

use actix::dev::{ContextFut, channel};
use actix::prelude::*;
use tokio::sync::mpsc;

const MAILBOX: usize = 256;

/// How an actor's run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Normal,
    /// The panic's text and place.
    Panic(String),
    /// Its factory panicked, with that text and place: there is nothing to restart.
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
            Exit::Normal => f.write_str("it stopped by itself"),
            Exit::Panic(text) => write!(f, "panic: {text}"),
            Exit::NeverBegan(text) => write!(f, "it could not be made: panic: {text}"),
            Exit::ThreadEnded => f.write_str("its thread ended"),
        }
    }
}

/// A child's runner is parked: the parent resumes or drops it.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct ChildExited {
    pub child_index: usize,
    pub exit: Exit,
}

/// Since when a runner is in the poll it is in, or parked; readable from any thread. Zero = it is not.
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

/// The parent's hold on a runner; dropping it discards the actor.
pub struct RunnerHandle {
    /// Unbounded in type only: one order answers one exit.
    orders: mpsc::UnboundedSender<Order>,
    pub poll_times: Arc<PollTimes>,
}

impl RunnerHandle {
    /// Rebuilds a parked actor in place.
    pub fn resume(&self) {
        let _ = self.orders.send(Order::Resume);
    }
}

enum Order {
    Resume,
}

/// Starts `make()` on `arbiter` in a runner of its own; its exits come to `parent` with `child_index`. Runners of one thread may share
/// `poll_times`: one of them is polled at a time.
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
    install_panic_hook();
    let (sender, receiver) = channel::channel::<A>(MAILBOX);
    let address = Addr::new(sender);
    let (orders, inbox) = mpsc::unbounded_channel();
    let handle = RunnerHandle { orders, poll_times: poll_times.clone() };
    arbiter.spawn_fn(move || {
        let made = catch_unwind(AssertUnwindSafe(|| Context::with_receiver(receiver).into_future(make())));
        match made {
            Ok(actor) => {
                actix_rt::spawn(ActorRunner {
                    actor: Some(actor),
                    orders: inbox,
                    parent,
                    poll_times,
                    child_index,
                    parked: false,
                });
            }
            Err(panic) => {
                parent.do_send(ChildExited { child_index, exit: Exit::NeverBegan(panic_text(panic.as_ref())) })
            }
        }
    });
    (address, handle)
}

struct ActorRunner<A: Actor<Context = Context<A>> + Supervised> {
    actor: Option<ContextFut<A, Context<A>>>,
    orders: mpsc::UnboundedReceiver<Order>,
    parent: Recipient<ChildExited>,
    poll_times: Arc<PollTimes>,
    child_index: usize,
    parked: bool,
}

impl<A: Actor<Context = Context<A>> + Supervised> Unpin for ActorRunner<A> {}

impl<A: Actor<Context = Context<A>> + Supervised> Future for ActorRunner<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<()> {
        loop {
            match self.orders.poll_recv(poller) {
                Poll::Ready(Some(Order::Resume)) if self.rebuild() => continue,
                Poll::Ready(_) => {
                    self.discard();
                    return Poll::Ready(());
                }
                Poll::Pending => break,
            }
        }
        if !self.parked {
            self.poll_actor(poller);
        }
        Poll::Pending
    }
}

impl<A: Actor<Context = Context<A>> + Supervised> ActorRunner<A> {
    fn poll_actor(&mut self, poller: &mut Poller<'_>) {
        let Some(actor) = self.actor.as_mut() else { return };
        self.poll_times.busy_since.store(monotonic_millis(), Ordering::Relaxed);
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(actor).poll(poller)));
        self.poll_times.busy_since.store(0, Ordering::Relaxed);
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(())) => self.park(Exit::Normal),
            Err(panic) => self.park(Exit::Panic(panic_text(panic.as_ref()))),
        }
    }

    /// The orders channel holds our waker already: the parent's answer wakes us.
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
                self.park(Exit::Panic(panic_text(panic.as_ref())));
                true
            }
        }
    }

    /// Runs `stopped()` once, never while unwinding.
    fn discard(&mut self) {
        let Some(mut actor) = self.actor.take() else { return };
        let _ = catch_unwind(AssertUnwindSafe(|| {
            actor.ctx().stop();
            let _ = Pin::new(&mut actor).poll(&mut Poller::from_waker(Waker::noop()));
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

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps text and place of each thread's last panic, and logs it where it happened.
pub fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let text = info.payload_as_str().unwrap_or("panic");
            crate::events::panicked(&place, text);
            LAST_PANIC.with(|last| *last.borrow_mut() = Some(format!("{text} at {place}")));
        }));
    });
}

/// The panic's text, with its place when it was caught on the thread where it happened.
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    let message = payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "panic".to_owned());
    let last = LAST_PANIC.with(|last| last.borrow_mut().take());
    last.filter(|text| text.starts_with(&message)).unwrap_or(message)
}

fn monotonic_millis() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64 + 1
}
