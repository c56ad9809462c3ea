//! `ApiState`: what every endpoint may use.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Health;
use crate::config;
use crate::db::Db;

#[derive(Clone)]
pub struct ApiState {
    pub db: Db,
    pub config: Arc<config::Api>,
    pub health: Health,
    /// Cancelled when the server ends: an answer that goes on for long ends with it.
    pub stop: CancellationToken,
}
