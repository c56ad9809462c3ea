//! Runs that make children and wait for them, save before their end, and are stopped from outside: through the
//! queue's claimer and executor, with bodies that the tests write, and no actor.

mod adoption;
mod cancel;
mod children;
mod kill;
mod runs;
mod save;
mod slots;
mod stop;
