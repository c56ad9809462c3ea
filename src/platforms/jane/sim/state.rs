//! `State`: what a test changes about Jane while the world runs: its key, and a product that goes between two pages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::FIRST_KEY;
use crate::encoding::Coding;
use crate::page_cache::PageCache;
use crate::platform::PlatformState;
use crate::settings;
use crate::vanishing::Vanishing;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Hits of an index that pages reach; there may be more.
    pub ceiling: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { ceiling: 1000 }
    }
}

pub(crate) struct State {
    pub(crate) key: Key,
    pub(crate) vanishing: Vanishing,
    /// Hits of an index that pages reach, however many there are.
    pub(crate) ceiling: usize,
    /// None = pages are not kept.
    pub(crate) pages: Option<PageCache<PageKey>>,
}

/// Inputs of a page of a menu.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) question: String,
    pub(crate) coding: Option<Coding>,
    pub(crate) crawl: u32,
    pub(crate) repriced: u64,
}

impl PlatformState for State {
    fn new(settings: &settings::Settings) -> State {
        let pages = settings.keep_pages.then(PageCache::default);
        let ceiling = settings.platforms.jane.ceiling;
        State { key: Key::default(), vanishing: Vanishing::default(), ceiling, pages }
    }

    fn key(&self) -> Option<String> {
        Some(locked(&self.key.0).key.clone())
    }
}

/// The key that is taken.
pub(crate) struct Key(Mutex<Rotation>);

struct Rotation {
    key: String,
    is_hidden: bool,
    /// The next key, and the number of menu pages that are still answered before it holds.
    next: Option<(u64, String)>,
}

impl Default for Key {
    fn default() -> Key {
        Key(Mutex::new(Rotation { key: FIRST_KEY.to_owned(), is_hidden: false, next: None }))
    }
}

impl Key {
    pub(crate) fn is(&self, given: &str) -> bool {
        locked(&self.0).key == given
    }

    /// The key as pages show it.
    pub(crate) fn shown(&self) -> Option<String> {
        let rotation = locked(&self.0);
        (!rotation.is_hidden).then(|| rotation.key.clone())
    }

    /// Pages show it no longer.
    pub(crate) fn hide(&self) {
        locked(&self.0).is_hidden = true;
    }

    /// `pages`: menu pages that are answered before.
    pub(crate) fn rotate_after(&self, pages: u64, key: &str) {
        let mut rotation = locked(&self.0);
        rotation.next = Some((pages, key.to_owned()));
        rotation.turn();
    }

    pub(crate) fn count_answer(&self) {
        let mut rotation = locked(&self.0);
        if let Some((left, _)) = &mut rotation.next {
            *left = left.saturating_sub(1);
        }
        rotation.turn();
    }
}

impl Rotation {
    fn turn(&mut self) {
        if let Some((_, key)) = self.next.take_if(|(left, _)| *left == 0) {
            self.key = key;
        }
    }
}

fn locked<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
