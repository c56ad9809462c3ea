//! Media jobs that scrape an account without a known address: neither its own row nor `media.platforms` has one. In: new jobs.
//! Out: their number by platform.

use std::collections::BTreeMap;

use super::{ApiError, ApiState};
use contract::jobs::NewJob;
use db::Client;
use domain::task::role::Role;

/// Counts, by platform, the jobs that fail until the platform or the account has an address.
pub async fn without_address(
    client: &Client,
    api: &ApiState,
    jobs: impl Iterator<Item = &NewJob>,
) -> Result<BTreeMap<String, usize>, ApiError> {
    let known = api.live.current().config.media.platforms.clone();
    let scrapes = jobs.filter(|job| job.role == Role::ScrapeAccount);
    let accounts = scrapes.filter_map(|job| Some((job.platform.as_deref()?, job.account.as_deref()?)));
    let unknown: Vec<(&str, &str)> = accounts.filter(|(platform, _)| !known.contains_key(*platform)).collect();
    if unknown.is_empty() {
        return Ok(BTreeMap::new());
    }
    let own = db::media::accounts::with_address(client, &unknown).await?;
    let mut counts = BTreeMap::new();
    for (platform, name) in unknown.into_iter().map(|(platform, name)| (platform.to_owned(), name.to_owned())) {
        if !own.contains(&(platform.clone(), name)) {
            *counts.entry(platform).or_default() += 1;
        }
    }
    Ok(counts)
}
