//! `PlatformKeys`: the keys that this process read from pages of menus, and whose turn it is to look for another one.
//!
//! In: keys read, and the rows of the table. Out: the keys that a task may ask with. One of a process. It must not know the
//! database, and shows no key.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::MutexGuard as TurnGuard;

use db::hosts::rotating_values::KeyRow;
use domain::store::Platform;
use domain::store::per_platform::PerPlatform;
use foundation::digest::sha256_hex;
use foundation::secrets::SecretKeys;
use settings::Secret;

/// Maximum time that a task waits for another one to find a key.
const MAX_TURN_WAIT: Duration = Duration::from_secs(90);

pub struct PlatformKeys {
    read: Mutex<HashMap<Platform, Secret>>,
    turns: PerPlatform<tokio::sync::Mutex<()>>,
}

/// A key, and its name in the table.
#[derive(Clone, PartialEq)]
pub struct KnownKey {
    pub key: Secret,
    pub digest: String,
    /// Whether it was refused since it was last accepted.
    pub is_refused: bool,
}

impl Default for PlatformKeys {
    fn default() -> PlatformKeys {
        PlatformKeys { read: Mutex::default(), turns: PerPlatform::made(|_| tokio::sync::Mutex::default()) }
    }
}

impl PlatformKeys {
    /// The turn to look for another key of the platform; none where another task has it for too long.
    pub async fn turn(&self, platform: Platform) -> Option<TurnGuard<'_, ()>> {
        tokio::time::timeout(MAX_TURN_WAIT, self.turns.of(platform).lock()).await.ok()
    }

    /// Keeps a key that was read just now.
    pub fn keep(&self, platform: Platform, key: Secret) {
        self.lock().insert(platform, key);
    }

    /// The keys to ask with, the one to begin with first: a configured one goes before one that was read, and one that is refused
    /// after all others, where the last read one is the most likely to be taken again.
    pub fn known(&self, platform: Platform, configured: &Secret, rows: &[KeyRow], keys: &SecretKeys) -> Vec<KnownKey> {
        let sealed = rows.iter().find_map(|row| opened(platform, row, keys));
        let read = sealed.or_else(|| self.lock().get(&platform).cloned());
        let configured = Some(configured).filter(|key| !key.is_empty()).cloned();
        let known = |key: Secret| {
            let digest = digest(platform, &key);
            let is_refused = rows.iter().any(|row| row.digest == digest && row.is_refused);
            KnownKey { key, digest, is_refused }
        };
        let mut all: Vec<KnownKey> = configured.into_iter().chain(read).map(known).collect();
        all.dedup();
        if all.iter().all(|key| key.is_refused) {
            all.reverse();
        }
        all.sort_by_key(|key| key.is_refused);
        all
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Platform, Secret>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a key in the table, which says nothing about it.
pub fn digest(platform: Platform, key: &Secret) -> String {
    sha256_hex(format!("drover key of {platform}\0{}", key.reveal()))
}

/// The form in which the table keeps a key; none where there is nothing to seal it with.
pub fn sealed(platform: Platform, key: &Secret, keys: &SecretKeys) -> Option<String> {
    keys.current_id()?;
    keys.seal(key.reveal(), &about(platform)).ok()
}

/// A kept key, unless it was sealed with another key than those of this process.
fn opened(platform: Platform, row: &KeyRow, keys: &SecretKeys) -> Option<Secret> {
    keys.open(row.sealed.as_ref()?, &about(platform)).ok().map(|key| Secret::from(key.as_str()))
}

/// Text that the sealed key is bound to.
fn about(platform: Platform) -> String {
    format!("key of {platform}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PLATFORM: Platform = Platform::DEFAULT;

    fn row(key: &str, sealed: Option<String>, is_refused: bool) -> KeyRow {
        let digest = digest(PLATFORM, &Secret::from(key));
        KeyRow { digest, sealed, is_refused, last_success_at: None, last_refusal_at: None }
    }

    fn order(keys: &PlatformKeys, configured: &str, rows: &[KeyRow], secrets: &SecretKeys) -> Vec<String> {
        let known = keys.known(PLATFORM, &Secret::from(configured), rows, secrets);
        known.iter().map(|known| known.key.reveal().to_owned()).collect()
    }

    #[rstest]
    #[case::configured_first("c", &[], &["c", "r"])]
    #[case::a_refused_one_last("c", &["c"], &["r", "c"])]
    #[case::a_read_one_that_is_refused("c", &["r"], &["c", "r"])]
    #[case::all_refused("c", &["c", "r"], &["r", "c"])]
    #[case::none_configured("", &[], &["r"])]
    #[case::the_same("r", &[], &["r"])]
    fn a_configured_key_goes_before_a_read_one_until_it_is_refused(
        #[case] configured: &str,
        #[case] refused: &[&str],
        #[case] expected: &[&str],
    ) {
        let keys = PlatformKeys::default();
        keys.keep(PLATFORM, Secret::from("r"));
        let rows: Vec<KeyRow> = refused.iter().map(|key| row(key, None, true)).collect();
        assert_eq!(order(&keys, configured, &rows, &SecretKeys::default()), expected);
    }

    #[test]
    fn a_sealed_key_is_known_to_processes_with_its_key_alone() {
        let [ours, theirs] = ["ab", "cd"].map(|digits| SecretKeys::parse(&digits.repeat(32), []).unwrap());
        let kept = sealed(PLATFORM, &Secret::from("canary"), &ours);
        assert!(!kept.as_deref().unwrap().contains("canary"));
        let rows = [row("canary", kept, false)];
        assert_eq!(order(&PlatformKeys::default(), "", &rows, &ours), ["canary"]);
        assert_eq!(order(&PlatformKeys::default(), "", &rows, &theirs), [""; 0]);
        assert_eq!(sealed(PLATFORM, &Secret::from("canary"), &SecretKeys::default()), None);
    }
}
