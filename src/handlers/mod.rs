//! The bodies of claimed tasks. [`run`] maps a role to its file; the other files are shared.
//!
//! A handler never touches `worker_tasks`, opens no transaction and logs nothing of its run: it returns an
//! [`Outcome`], whose writes and follow-ups the caller commits in one transaction ([`queue::commit`]). A long one
//! hands writes to [`Context::save`] before. It may run twice. It must not know actors or HTTP.

pub mod context;
pub mod hash_alarm;
pub mod housekeeping;
#[cfg_attr(not(feature = "media"), path = "media_absent.rs")]
pub mod media;
pub mod product_refresh;
pub mod retention;

mod analytics_refresh;
mod body;
mod change_publisher;
mod entry_point_discovery;
mod known_hashes;
mod notify;
mod payload_fetch;
mod platform_client;
mod platform_keys;
pub mod progress;
mod store_discovery;
mod task_keys;

use serde_json::Value;

pub use change_publisher::ChangePublisher;
pub use context::{Context, TaskServices};
pub use hash_alarm::ExhaustedHashAlarm;
pub use known_hashes::KnownHashes;
pub use platform_keys::{PlatformKeys, digest as key_digest};
pub use progress::RunProgress;

use domain::task::kinds::Args;
use domain::task::role::{Family, Role};
use queue::{HandOver, Outcome, TaskError};

/// Whether this build has the body of a role.
pub fn is_built(role: Role) -> bool {
    cfg!(feature = "media") || role.family() != Family::Media
}

/// The end of a run that was stopped from outside. Its saves stay.
fn stopped() -> TaskError {
    TaskError::retry("the run was stopped")
}

/// Runs one task's body. `payload` is the column of that name; `hand_over` comes from the run that started
/// the task in its own slot.
pub async fn run(
    ctx: &Context,
    role: Role,
    payload: &Value,
    hand_over: Option<HandOver>,
) -> Result<Outcome, TaskError> {
    fail::fail_point!(&format!("handler.{role}"));
    match Args::read(role, payload).map_err(|error| TaskError::permanent(error.to_string()))? {
        Args::StoreDiscovery(args) => store_discovery::run(ctx, args).await,
        Args::EntryPointDiscovery(args) => entry_point_discovery::run(ctx, args).await,
        Args::ProductDiscovery(args) | Args::PayloadFetch(args) => payload_fetch::run(ctx, args).await,
        Args::ProductRefresh(args) => product_refresh::run(ctx, args, hand_over).await,
        Args::AnalyticsRefresh(args) => analytics_refresh::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::AppearancesSync(args) => media::appearances_sync::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::EasynewsMonitor(args) => media::easynews_monitor::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::ScrapeAccount(args) => media::scrape_account::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::PaidContentSync(args) => media::paid_content_sync::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::PaidContentCreator(args) => media::paid_content_creator::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::DownloadMedia(args) => media::download_media::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::ForumScrape(args) => media::forum_scrape::run(ctx, args).await,
        Args::Notify(args) => notify::run(ctx, args).await,
        #[cfg(feature = "media")]
        Args::YoutubeMonitor(args) => media::youtube_monitor::run(ctx, args).await,
        #[cfg(not(feature = "media"))]
        _ => Err(TaskError::permanent(crate::features::NO_MEDIA)),
    }
}
