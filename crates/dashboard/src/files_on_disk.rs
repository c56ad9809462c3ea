//! The dashboard's files as they are in the checkout now: a debug build's, so that a changed one needs no
//! compilation.

use std::borrow::Cow;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::version_of;

include!(concat!(env!("OUT_DIR"), "/ui.rs"));

pub fn get(name: &str) -> Option<Cow<'static, [u8]>> {
    let plain = Path::new(name).components().all(|component| matches!(component, Component::Normal(_)));
    let folder = FOLDERS.iter().find(|(entry, _)| name.split('/').next() == Some(*entry)).filter(|_| plain)?.1;
    fs::read(Path::new(folder).join(name)).ok().map(Cow::Owned)
}

/// Version of the last document, so that each of its files costs no look at all of them.
static LATEST: Mutex<String> = Mutex::new(String::new());

/// Changes with every change of a file.
pub fn version() -> String {
    let version = computed_version();
    latest().clone_from(&version);
    version
}

pub fn is_version(version: &str) -> bool {
    *latest() == version || computed_version() == version
}

fn latest() -> MutexGuard<'static, String> {
    LATEST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn computed_version() -> String {
    let mut names = Vec::new();
    for (entry, folder) in FOLDERS {
        add_files(Path::new(folder), PathBuf::from(entry), &mut names);
    }
    names.sort();
    let files: Vec<_> = names.iter().filter_map(|name| Some((name.as_str(), get(name)?))).collect();
    version_of(files.iter().map(|(name, bytes)| (*name, bytes.as_ref())))
}

fn add_files(folder: &Path, name: PathBuf, names: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder.join(&name)) else { return names.push(name.display().to_string()) };
    for entry in entries.flatten() {
        add_files(folder, name.join(entry.file_name()), names);
    }
}
