//! `Env`: what every command may use: the configuration, stdout, the runtime, and the database once it is asked for.

use std::sync::Arc;

use tokio::runtime::Runtime;

use super::output::Output;
use crate::config::{Config, Loaded};

pub struct Env {
    pub config: Arc<Config>,
    /// The configuration with its origins.
    pub loaded: Loaded,
    pub out: Output,
    /// The process's one runtime; actors' threads run on it too.
    pub runtime: Arc<Runtime>,
}

impl Env {
    pub(super) fn new(loaded: Loaded, out: Output, runtime: Arc<Runtime>) -> Self {
        Env { config: Arc::new(loaded.config.clone()), loaded, out, runtime }
    }
}
