//! `World`: all that the site has and has seen, shared by its servers and its handle.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::content::MediaFile;
use super::faults::Faults;
use super::hooks::Hooks;
use super::oracle::{Account, Channel, Person, Search, Video};
use super::plan::MediaPlan;
use super::requests::Requests;
use super::smtp::Mails;
use super::threads::{Thread, thread};
use super::{accounts, easynews, feed, tmdb};

pub(super) struct World {
    pub(super) plan: MediaPlan,
    /// Scheme, host and port, without a slash at the end.
    pub(super) url: String,
    pub(super) elsewhere: String,
    pub(super) faults: Faults,
    pub(super) requests: Requests,
    pub(super) hooks: Hooks,
    pub(super) mails: Mails,
    /// Bytes of bodies that were sent, by path with query; only paths of files.
    sent: Mutex<BTreeMap<String, u64>>,
    inventory: Mutex<Inventory>,
}

/// All that the services show; it grows while the site runs.
pub(super) struct Inventory {
    pub(super) accounts: Vec<Account>,
    pub(super) channels: Vec<Channel>,
    pub(super) threads: Vec<Thread>,
    pub(super) searches: Vec<Search>,
    pub(super) people: Vec<Person>,
    /// Files by path with query.
    files: BTreeMap<String, MediaFile>,
}

impl World {
    pub(super) fn new(plan: MediaPlan, url: String, elsewhere: String) -> World {
        let inventory = Mutex::new(Inventory::of(&plan));
        World {
            plan,
            url,
            elsewhere,
            faults: Faults::default(),
            requests: Requests::default(),
            hooks: Hooks::default(),
            mails: Mails::default(),
            sent: Mutex::default(),
            inventory,
        }
    }

    pub(super) fn inventory(&self) -> MutexGuard<'_, Inventory> {
        self.inventory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of a path at this site.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    pub(super) fn file(&self, path: &str) -> Option<MediaFile> {
        self.inventory().files.get(path).cloned()
    }

    pub(super) fn channel(&self, id: &str) -> Option<Channel> {
        self.inventory().channels.iter().find(|channel| channel.id == id).cloned()
    }

    pub(super) fn video(&self, id: &str) -> Option<Video> {
        let inventory = self.inventory();
        inventory.channels.iter().flat_map(|channel| &channel.videos).find(|video| video.id == id).cloned()
    }

    pub(super) fn note_sent(&self, path: &str, bytes: u64) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        match sent.get_mut(path) {
            Some(sum) => *sum += bytes,
            None => drop(sent.insert(path.to_owned(), bytes)),
        }
    }

    pub(super) fn sent(&self, path: &str) -> u64 {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or_default()
    }
}

impl Inventory {
    fn of(plan: &MediaPlan) -> Inventory {
        let seed = plan.seed;
        let mut inventory = Inventory {
            accounts: accounts::all(plan),
            channels: plan.channels.iter().map(|channel| feed::channel(seed, channel)).collect(),
            threads: plan.threads.iter().map(|plan| thread(seed, plan)).collect(),
            searches: plan.searches.iter().map(|search| easynews::search(seed, search)).collect(),
            people: plan.people.iter().map(|person| tmdb::person(seed, person)).collect(),
            files: BTreeMap::new(),
        };
        inventory.list_files();
        inventory
    }

    /// Lists the files of all that there is; to be called after each change.
    pub(super) fn list_files(&mut self) {
        let accounts = self.accounts.iter().flat_map(Account::files);
        let videos = self.channels.iter().flat_map(|channel| &channel.videos).map(|video| &video.file);
        let posts = self.threads.iter().flat_map(|thread| &thread.posts);
        let of_posts = posts.flat_map(|post| &post.links).filter_map(|link| link.file.as_ref());
        let found = self.searches.iter().flat_map(|search| &search.files).map(|found| &found.file);
        let all = accounts.chain(videos).chain(of_posts).chain(found);
        self.files = all.map(|file| (file.path.clone(), file.clone())).collect();
    }
}
