//! `found_stores`: every store that a discovery run saw, promoted or not, and since when it is
//! gone. Keyed by platform: ids of two platforms may be equal.

use crate::statements::{FromRow, column, first_columns, named, read_all, rows, sql};
use crate::{DbError, Tx};
use domain::store::menu_urls::MenuKey;
use domain::store::{FoundStore, Platform, RejectionReason, StoreId};
use domain::switches::{SwitchKind, Switches};

/// Maximum number of licences of a store that are kept.
const MAX_LICENCES: usize = 20;

/// A store, and the state of the discovery point that saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveredStore {
    pub found_in: String,
    pub store: FoundStore,
}

impl DiscoveredStore {
    pub fn is_closed(&self) -> bool {
        self.store.rejection_reason == Some(RejectionReason::NotOpen)
    }

    /// The unknown word; `none` where the platform gave no word.
    fn unknown_status(&self) -> Option<&str> {
        let is_unknown = self.store.rejection_reason == Some(RejectionReason::UnknownStatus);
        is_unknown.then(|| self.store.status.as_deref().unwrap_or("none"))
    }
}

/// Stores everything that was seen of `platform`, each id once.
pub async fn record(tx: &Tx, platform: Platform, seen: &[DiscoveredStore], key: &MenuKey<'_>) -> Result<(), DbError> {
    named!(tx.execute(
        "stores/discovery/record.sql",
        ids = column(seen, |s| s.store.platform_dispensary_id.as_str()),
        names = column(seen, |s| s.store.name.as_str()),
        slugs = column(seen, |s| s.store.slug.as_deref()),
        menu_urls = column(seen, |s| s.store.menu_url.as_deref()),
        menu_keys = column(seen, |s| s.store.menu_url.as_deref().and_then(|menu_url| key(platform, menu_url))),
        api_hosts = column(seen, |s| s.store.api_host.as_deref()),
        addresses = column(seen, |s| s.store.address.as_deref()),
        cities = column(seen, |s| s.store.city.as_deref()),
        states = column(seen, |s| s.store.state.as_deref()),
        zips = column(seen, |s| s.store.zip.as_deref()),
        latitudes = column(seen, |s| s.store.latitude),
        longitudes = column(seen, |s| s.store.longitude),
        phones = column(seen, |s| s.store.phone.as_deref()),
        timezones = column(seen, |s| s.store.timezone.as_deref()),
        is_recreational = column(seen, |s| s.store.is_recreational),
        is_medical = column(seen, |s| s.store.is_medical),
        licences = column(seen, licences),
        websites = column(seen, |s| s.store.website.as_deref()),
        emails = column(seen, |s| s.store.email.as_deref()),
        statuses = column(seen, |s| s.store.status.as_deref()),
        found_in = column(seen, |s| s.found_in.as_str()),
        reasons = column(seen, |s| s.store.rejection_reason.map(<&str>::from)),
        platform = platform.name(),
        unknown_statuses = column(seen, |s| s.unknown_status())
    ))
    .await?;
    Ok(())
}

/// Its licences, one a line; none where it has none.
fn licences(seen: &DiscoveredStore) -> Option<String> {
    let plain = seen.store.licences.iter().filter(|licence| !licence.contains(char::is_control));
    let licences: Vec<&str> = plain.take(MAX_LICENCES).map(String::as_str).collect();
    (!licences.is_empty()).then(|| licences.join("\n"))
}

/// The crawled stores that an answer covers in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredStores {
    pub found_in: String,
    pub stores: Vec<StoreId>,
    /// The subset that it would close: they are closed, or it does not name them any more.
    pub closing: Vec<StoreId>,
    /// Ids at the platform of the stores that it says are closed.
    pub closed: Vec<String>,
}

impl CoveredStores {
    pub fn switches(&self) -> Switches {
        Switches { kind: SwitchKind::Stores, covered: self.stores.len(), switched: self.closing.len() }
    }
}

/// The crawled stores that the answer `seen` covers, by state; `states` are those whose every point answered.
pub async fn covered(
    tx: &Tx,
    platform: Platform,
    seen: &[DiscoveredStore],
    states: &[String],
) -> Result<Vec<CoveredStores>, DbError> {
    let ids = column(seen, |s| s.store.platform_dispensary_id.as_str());
    let found_in = column(seen, |s| s.found_in.as_str());
    let is_closed = column(seen, DiscoveredStore::is_closed);
    read_all(
        &named!(tx.query(
            "stores/discovery/closing_of.sql",
            platform = platform.name(),
            ids,
            found_in,
            is_closed,
            states
        ))
        .await?,
    )
}

/// Outcome of [`promote`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Promoted {
    pub new: Vec<StoreId>,
    /// Ids at the platform that were left out: a known store, which did not vanish, has the same slug.
    pub of_known_stores: Vec<String>,
}

/// Makes stores of the valid entries of `seen`; updates known ones. A store that vanished and is found under another id
/// gets that id. Call it after [`record`] and [`flag_vanished`].
pub async fn promote(tx: &Tx, platform: Platform, seen: &[DiscoveredStore]) -> Result<Promoted, DbError> {
    let ids = column(seen, |s| s.store.platform_dispensary_id.as_str());
    let row = tx.query_one(sql!("stores/discovery/promote.sql"), &[&ids, &platform.name()]).await?;
    Promoted::from_row(&row)
}

/// Flags the stores of `platform` that a discovery run in `states` did not see again; returns their number.
/// Flagged stores are kept.
pub async fn flag_vanished(
    tx: &Tx,
    platform: Platform,
    states: &[String],
    seen: &[DiscoveredStore],
) -> Result<u64, DbError> {
    let ids = column(seen, |s| s.store.platform_dispensary_id.as_str());
    tx.execute(sql!("stores/discovery/flag_vanished.sql"), &[&states, &ids, &platform.name()]).await
}

/// Disables those of `stores` that are closed or have vanished, and marks their products out of stock; returns how
/// many.
pub async fn close(tx: &Tx, platform: Platform, stores: &[StoreId]) -> Result<usize, DbError> {
    // the next statement sees the commits of refreshes that this one waited for
    let closing = tx.query(sql!("stores/discovery/closing.sql"), &[&platform.name(), &stores]).await?;
    let ids: Vec<StoreId> = first_columns(&closing)?;
    let reasons: Vec<String> = closing.iter().map(|row| row.try_get("reason")).collect::<Result<_, _>>()?;
    tx.execute(sql!("stores/discovery/close.sql"), &[&ids, &reasons]).await?;
    super::sell_out(tx, &ids).await?;
    Ok(ids.len())
}

rows! {
    CoveredStores { found_in, stores, closing, closed }
    Promoted { new, of_known_stores }
}
