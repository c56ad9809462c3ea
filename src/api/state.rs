//! `ApiState`: what every endpoint may use.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::credentials::Credentials;
use super::feed::Feed;
use super::origin::Hosts;
use super::rates::Rates;
use super::{Health, MAX_LISTENERS};
use crate::config;
use crate::db::Db;

#[derive(Clone)]
pub struct ApiState {
    pub db: Db,
    pub config: Arc<config::Api>,
    pub health: Health,
    /// Cancelled when the server ends: an answer that goes on for long ends with it.
    pub stop: CancellationToken,
    pub(super) hosts: Arc<Hosts>,
    pub(super) credentials: Arc<Credentials>,
    pub(super) rates: Arc<Rates>,
    pub(super) feed: Arc<Feed>,
    /// Places of those who listen to events.
    pub(super) listeners: Arc<Semaphore>,
}

impl ApiState {
    pub fn new(db: Db, config: Arc<config::Api>, health: Health) -> Self {
        let hosts = Hosts::new(&config.hosts, config.is_loopback());
        let rates = Rates::new(config.requests_per_minute);
        ApiState {
            db,
            health,
            stop: CancellationToken::new(),
            hosts: Arc::new(hosts),
            credentials: Arc::default(),
            rates: Arc::new(rates),
            feed: Arc::default(),
            listeners: Arc::new(Semaphore::new(MAX_LISTENERS)),
            config,
        }
    }
}
