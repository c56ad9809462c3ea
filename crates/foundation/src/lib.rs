//! Small modules that every other crate may use: the clock, digests, secrets, inflating, and the limits of the process.

pub mod authorities;
pub mod clock;
pub mod cpu;
pub mod digest;
pub mod inflate;
pub mod memory;
pub mod process;
pub mod process_limits;
pub mod secrets;
pub mod spelling;
pub mod text;
pub mod webhook_signature;
mod whole_member;
