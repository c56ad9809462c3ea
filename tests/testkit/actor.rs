//! One actor in the test's own process, driven as the product drives it: by its runner.

use std::sync::Arc;

use actix::{Actor, Addr, Arbiter, Context, Handler, Supervised};
use supervision::runner::{self, ChildExited, RunnerHandle};

/// Fails the test when its child ends.
struct Parent;

impl Actor for Parent {
    type Context = Context<Self>;
}

impl Handler<ChildExited> for Parent {
    type Result = ();

    fn handle(&mut self, child: ChildExited, _: &mut Self::Context) {
        panic!("the actor ended: {}", child.exit);
    }
}

/// Starts `make()` on the test's thread. Dropping the handle discards it.
pub fn start_actor<A>(make: impl FnOnce() -> A + Send + 'static) -> (Addr<A>, RunnerHandle)
where
    A: Actor<Context = Context<A>> + Supervised,
{
    runner::start(&Arbiter::current(), 0, Parent.start().recipient(), Arc::default(), make)
}
