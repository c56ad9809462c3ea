//! The tree of actors.
