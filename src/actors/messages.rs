//! Messages that several kinds of actors handle.

use std::marker::PhantomData;

use actix::prelude::*;

use super::runner::Exit;

/// Periodic work is a message; an interval only sends it.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Tick;

/// An actor that does not answer in time hangs.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Ping;

/// Asks an actor for its state `T`, as people may see it.
pub struct Observe<T>(PhantomData<T>);

impl<T> Default for Observe<T> {
    fn default() -> Self {
        Observe(PhantomData)
    }
}

impl<T: Send + 'static> Message for Observe<T> {
    type Result = T;
}

/// A branch of the tree has used up its restarts.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct SupervisorFailed {
    /// The child that failed, and whose child it is.
    pub name: String,
    pub exit: Exit,
}
