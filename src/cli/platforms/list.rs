//! `drover platforms list`: each platform, whether it is crawled, and how its key and hashes fare. No key is shown.

use chrono::{DateTime, Utc};
use serde::Serialize;
use strum::VariantArray;

use crate::app::data::DataFiles;
use crate::cli::{Env, ExitCode, time};
use crate::handlers::key_digest;
use crate::platforms::{PlatformEntry, PlatformRegistry};
use crate::stealth::IdentityKind;
use db::hosts::key_reads::{self, KeyRead};
use db::hosts::rotating_values::{self, KeyRow, OperationRow};
use db::stores::by_platform::{self, PlatformStores};
use db::{Client, DbError};
use domain::amounts::duration;
use domain::store::{Platform, StoreId};
use foundation::clock::Clock;

#[derive(Serialize)]
struct ListedPlatform {
    platform: Platform,
    enabled: bool,
    /// Why it is not asked; none where it is.
    reason: Option<String>,
    /// `browser` or `own`; none where it is not asked.
    identity: Option<&'static str>,
    stores: i64,
    stores_enabled: i64,
    /// None where it takes no key.
    key: Option<KeyState>,
    hashes: Vec<OperationRow>,
}

/// The state of a platform's key, without the key.
#[derive(Debug, Default, PartialEq, Serialize)]
struct KeyState {
    configured: bool,
    /// Time of the refusal of the configured key, where it was not accepted since.
    configured_refused_at: Option<DateTime<Utc>>,
    /// Whether the pages of its menus show one.
    is_on_pages: bool,
    read: Option<ReadKey>,
}

/// The last read of a page.
#[derive(Debug, PartialEq, Serialize)]
struct ReadKey {
    at: DateTime<Utc>,
    store: Option<StoreId>,
    /// Why it gave no key.
    failure: Option<String>,
    /// Whether all processes with secrets.key have the key; otherwise the one that read it has it in its memory.
    is_shared: bool,
    refused_at: Option<DateTime<Utc>>,
    next_read_at: DateTime<Utc>,
}

pub async fn run(env: &Env) -> anyhow::Result<ExitCode> {
    let registry = DataFiles::load(&env.config)?.platforms;
    let client = env.db_to_read().await?.client().await?;
    let stores = by_platform::counts(&client).await?;
    let mut platforms = Vec::new();
    for platform in Platform::VARIANTS {
        platforms.push(listed(*platform, &registry, &stores, &client).await?);
    }
    let headers = ["platform", "asked", "stores", "key", "hashes", "next read"];
    let now = Clock::system().utc();
    env.out.listed("platforms", &platforms, &headers, |platform| cells(platform, now))?;
    Ok(ExitCode::Ok)
}

async fn listed(
    platform: Platform,
    registry: &PlatformRegistry,
    stores: &[PlatformStores],
    client: &Client,
) -> Result<ListedPlatform, DbError> {
    let entry = registry.get(platform);
    let identity = entry.identity();
    let counts = stores.iter().find(|counts| counts.platform == platform.name());
    let key = match entry.adapter.takes_key() {
        true => Some(key_state(platform, entry, client).await?),
        false => None,
    };
    Ok(ListedPlatform {
        platform,
        enabled: identity.is_ok(),
        reason: identity.as_ref().err().map(ToString::to_string),
        identity: identity.ok().map(IdentityKind::name),
        stores: counts.map_or(0, |counts| counts.stores),
        stores_enabled: counts.map_or(0, |counts| counts.enabled),
        key,
        hashes: rotating_values::operations(client, platform).await?,
    })
}

async fn key_state(platform: Platform, entry: &PlatformEntry, client: &Client) -> Result<KeyState, DbError> {
    let rows = rotating_values::keys(client, platform).await?;
    let read = key_reads::get(client, platform).await?;
    let configured = Some(&entry.key).filter(|key| !key.is_empty()).map(|key| key_digest(platform, key));
    Ok(state(configured.as_deref(), &rows, read, entry.adapter.page_key().is_some()))
}

/// `configured`: digest of the configured key. The rows begin with the key that was read last.
fn state(configured: Option<&str>, rows: &[KeyRow], read: Option<KeyRead>, is_on_pages: bool) -> KeyState {
    let refused_at = |row: &KeyRow| row.last_refusal_at.filter(|_| row.is_refused);
    let own = rows.iter().find(|row| Some(row.digest.as_str()) == configured);
    let kept = rows.iter().find(|row| row.sealed.is_some() || Some(row.digest.as_str()) != configured);
    KeyState {
        configured: configured.is_some(),
        configured_refused_at: own.and_then(refused_at),
        is_on_pages,
        read: read.map(|read| ReadKey {
            at: read.begun_at,
            store: read.store,
            is_shared: read.failure.is_none() && kept.is_some_and(|row| row.sealed.is_some()),
            refused_at: kept.filter(|_| read.failure.is_none()).and_then(refused_at),
            failure: read.failure,
            next_read_at: read.next_read_at,
        }),
    }
}

fn cells(listed: &ListedPlatform, now: DateTime<Utc>) -> Vec<String> {
    let asked = match (listed.identity, &listed.reason) {
        (Some(identity), _) => format!("as {identity}"),
        (None, reason) => format!("no: {}", reason.as_deref().unwrap_or_default()),
    };
    let stores = match listed.stores - listed.stores_enabled {
        0 => listed.stores.to_string(),
        off => format!("{} ({off} off)", listed.stores),
    };
    let next_read = listed.key.as_ref().and_then(|key| key.read.as_ref()).map(|read| read.next_read_at);
    vec![
        listed.platform.to_string(),
        asked,
        stores,
        listed.key.as_ref().map(|key| key_text(key, now)).unwrap_or_default(),
        listed.hashes.iter().map(hashes_text).collect::<Vec<_>>().join("; "),
        next_read.map(|at| if at <= now { "due".to_owned() } else { time(at) }).unwrap_or_default(),
    ]
}

fn key_text(key: &KeyState, now: DateTime<Utc>) -> String {
    let configured = key.configured.then(|| match key.configured_refused_at {
        Some(at) => format!("configured, refused at {}", time(at)),
        None => "configured".to_owned(),
    });
    let read = key.read.as_ref().map(|read| read_text(read, now));
    let none = || if key.is_on_pages { "none: the next crawl reads it" } else { "none: set it" }.to_owned();
    let texts: Vec<String> = configured.into_iter().chain(read).collect();
    if texts.is_empty() { none() } else { texts.join("; ") }
}

fn read_text(read: &ReadKey, now: DateTime<Utc>) -> String {
    let age = duration((now - read.at).num_seconds() as f64);
    let page = read.store.map_or_else(String::new, |store| format!(" from the page of store {store}"));
    let begun = format!("read{page} at {} ({age} ago)", time(read.at));
    if let Some(failure) = &read.failure {
        return format!("{begun}: {failure}");
    }
    let refused = read.refused_at.map_or_else(String::new, |at| format!(", refused at {}", time(at)));
    let memory = if read.is_shared { "" } else { ", in the memory of one process: set secrets.key to share it" };
    format!("{begun}{memory}{refused}")
}

fn hashes_text(row: &OperationRow) -> String {
    let hashes = if row.hashes == 1 { "1 hash".to_owned() } else { format!("{} hashes", row.hashes) };
    let at = |word: &str, at: Option<DateTime<Utc>>| at.map_or_else(String::new, |at| format!(", {word} {}", time(at)));
    let (accepted, refused) = (at("accepted", row.last_success_at), at("refused", row.last_refusal_at));
    format!("{}: {hashes}{accepted}{refused}", row.operation)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use rstest::rstest;

    use super::*;

    fn row(digest: &str, is_sealed: bool, is_refused: bool) -> KeyRow {
        KeyRow {
            digest: digest.to_owned(),
            sealed: is_sealed.then(|| "sealed".to_owned()),
            is_refused,
            last_success_at: None,
            last_refusal_at: is_refused.then_some(DateTime::UNIX_EPOCH),
        }
    }

    fn read(failure: Option<&str>) -> Option<KeyRead> {
        let at = DateTime::UNIX_EPOCH;
        let failure = failure.map(str::to_owned);
        let next_read_at = at + TimeDelta::hours(1);
        Some(KeyRead { begun_at: at, next_read_at, store: Some(7), ended_at: Some(at), failure, is_under_way: false })
    }

    const READ: &str = "read from the page of store 7 at 1970-01-01 00:00:00 UTC (5 m ago)";

    #[rstest]
    #[case::nothing(None, &[], None, "none: the next crawl reads it")]
    #[case::configured(Some("c"), &[row("c", false, false)], None, "configured")]
    #[case::configured_and_refused(
        Some("c"),
        &[row("r", true, false), row("c", false, true)],
        read(None),
        "configured, refused at 1970-01-01 00:00:00 UTC; READ"
    )]
    #[case::read(None, &[row("r", true, false)], read(None), "READ")]
    #[case::in_memory(None, &[row("r", false, false)], read(None), "READ, in the memory of one process: set secrets.key to share it")]
    #[case::read_and_refused(None, &[row("r", true, true)], read(None), "READ, refused at 1970-01-01 00:00:00 UTC")]
    #[case::failed(None, &[], read(Some("the page shows none")), "READ: the page shows none")]
    fn the_state_of_a_key_is_shown_without_the_key(
        #[case] configured: Option<&str>,
        #[case] rows: &[KeyRow],
        #[case] read: Option<KeyRead>,
        #[case] expected: &str,
    ) {
        let now = DateTime::UNIX_EPOCH + TimeDelta::minutes(5);
        assert_eq!(key_text(&state(configured, rows, read, true), now), expected.replace("READ", READ));
    }
}
