//! `PictureHost`: the part of the origin that has the pictures: their addresses, and how long each answer
//! takes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::address::{Address, PATH};
use super::plan::Subject;

pub(crate) struct PictureHost {
    base_url: String,
    /// Subjects by hash: every picture that a product or brand of this world names in any crawl.
    subjects: OnceLock<HashMap<u128, Subject>>,
    percent: u64,
    latency: Mutex<Duration>,
    is_held: watch::Sender<bool>,
    prefers_avif: AtomicBool,
}

impl PictureHost {
    pub(crate) fn new(base_url: &str, percent: u64) -> PictureHost {
        PictureHost {
            base_url: base_url.to_owned(),
            subjects: OnceLock::new(),
            percent,
            latency: Mutex::default(),
            is_held: watch::Sender::new(false),
            prefers_avif: AtomicBool::new(false),
        }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// How many percent of the products may have a picture.
    pub(crate) fn percent(&self) -> u64 {
        self.percent
    }

    /// The address of the picture with these 32 hex digits.
    pub(crate) fn url(&self, hex32: &str) -> String {
        format!("{}{PATH}{hex32}", self.base_url)
    }

    pub(crate) fn absolute(&self, address: Address) -> String {
        format!("{}{address}", self.base_url)
    }

    /// The address that `url` has at this origin, as products and brands name it.
    pub(crate) fn address(&self, url: &str) -> Option<Address> {
        Address::of_path(url.strip_prefix(&self.base_url)?).filter(|address| address.hop == 0)
    }

    /// Subject of a picture; none for strangers, so that no client can make counts grow without end. `subjects` lists them
    /// all, once.
    pub(crate) fn subject(
        &self,
        address: Address,
        subjects: impl FnOnce() -> HashMap<u128, Subject>,
    ) -> Option<Subject> {
        self.subjects.get_or_init(subjects).get(&address.hash).copied()
    }

    pub(crate) fn set_latency(&self, latency: Duration) {
        *self.latency.lock().unwrap_or_else(PoisonError::into_inner) = latency;
    }

    pub(crate) fn hold(&self, is_held: bool) {
        self.is_held.send_replace(is_held);
    }

    pub(crate) fn prefer_avif(&self, prefers_avif: bool) {
        self.prefers_avif.store(prefers_avif, Ordering::Relaxed);
    }

    pub(crate) fn prefers_avif(&self) -> bool {
        self.prefers_avif.load(Ordering::Relaxed)
    }

    /// Waits until the answer may go out; not longer than `patience` for the sake of a hold.
    pub(crate) async fn wait(&self, patience: Duration) {
        let latency = *self.latency.lock().unwrap_or_else(PoisonError::into_inner);
        // even a sleep of nothing lasts until the timer's next tick
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        let mut is_held = self.is_held.subscribe();
        let _ = tokio::time::timeout(patience, is_held.wait_for(|is_held| !is_held)).await;
    }
}
