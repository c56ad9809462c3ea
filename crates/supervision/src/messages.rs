//! Messages that several kinds of actors handle. They must not know who handles them.

use std::marker::PhantomData;

use actix::prelude::*;

/// Sent to an actor by its own interval: do the periodic work now.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Tick;

/// Sent by the watchdog: an actor that does not answer within `hung_after` counts as hung.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Ping;

/// Asks an actor for its state `T`.
pub struct Observe<T>(PhantomData<T>);

impl<T> Default for Observe<T> {
    fn default() -> Self {
        Observe(PhantomData)
    }
}

impl<T: Send + 'static> Message for Observe<T> {
    type Result = T;
}
