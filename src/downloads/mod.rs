//! Downloads of images: images that a refresh has made known are fetched once, through the proxies, and
//! stored.
//!
//! In: stores whose products were written. Out: image files, and rows that name them. Best effort and outside
//! of any task: the queue is in memory and bounded, and lost images are found again by the store's next
//! refresh, or with `drover images backfill`. It must not know tasks, HTTP servers or the tree of actors.

mod download_queue;
mod fetch;
mod image_sites;
mod lane;
mod outage;
mod progress;
mod recorder;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::stealth::{AllowList, Sessions};
use db::products::images::ImageSelection;
use db::{Db, DbError};
use domain::menu::image::WantedImage;
use domain::store::StoreId;
use download_queue::UnderWay;
pub use download_queue::{DownloadQueue, RunGuard, StoreAsk};
pub use image_sites::ImageSites;
use lane::{Lane, LaneDeps};
pub use progress::DownloadProgress;
use recorder::{Finished, Recorder};
use storage::Images;
use supervision::background::{Background, BackgroundLoop};
use telemetry::events;

/// Images that lanes have not taken yet, of the store that is being looked at.
const MAX_AHEAD: usize = 64;

/// Dependencies of downloads.
#[derive(Clone)]
pub struct DownloadDeps {
    pub db: Db,
    pub sessions: Sessions,
    pub images: Images,
    pub config: settings::Images,
    pub sites: ImageSites,
}

/// One image for a lane.
struct Job {
    image: WantedImage,
    under_way: UnderWay,
    /// Store whose refresh made the image known.
    store: StoreId,
    /// Whether it is downloaded although it is stored.
    refetch: bool,
}

/// Maximum time in which the outcomes of downloads that were stopped are noted.
const MAX_STOP: Duration = Duration::from_secs(2);

/// Running downloads; dropping it ends them.
pub struct Downloads {
    feeder: JoinHandle<()>,
    recorder: JoinHandle<()>,
    stop: CancellationToken,
}

impl Drop for Downloads {
    fn drop(&mut self) {
        self.feeder.abort();
        self.stop.cancel();
    }
}

impl Downloads {
    /// Starts to download the stores in `queue`, and later ones.
    pub fn start(queue: DownloadQueue, deps: DownloadDeps, background: &Background) -> Downloads {
        let stop = CancellationToken::new();
        let (jobs, lanes_end) = mpsc::channel(MAX_AHEAD);
        let lanes_end = Arc::new(Mutex::new(lanes_end));
        let (finished, finished_end) = mpsc::channel(MAX_AHEAD);
        let allowed = AllowList::new(deps.sites.hosts());
        for nth in 0..deps.config.concurrency {
            // one continues while tasks run, so that a process that is always busy gets its images, too
            let gives_way_to = (nth > 0).then(|| queue.clone());
            let (deps, jobs, finished) = (LaneDeps::new(&deps, &allowed), lanes_end.clone(), finished.clone());
            background.start("downloads of images", Lane::new(deps, jobs, finished, gives_way_to, stop.clone()));
        }
        let recorder = Recorder::new(deps.db.clone(), deps.config.retry_base, finished_end);
        let recorder = background.start("recorder of images", recorder);
        let feeder = Feeder { queue, db: deps.db, allowed, jobs, finished, settled: HashSet::new() };
        let feeder = background.start("search for images", feeder);
        Downloads { feeder, recorder, stop }
    }

    /// Stops, and notes what was downloaded. Images under way are found again.
    pub async fn stop(mut self) {
        self.feeder.abort();
        self.stop.cancel();
        let _ = timeout(MAX_STOP, &mut self.recorder).await;
    }
}

/// Looks up the images of one store after the other, and hands them to the lanes; those of hosts that are not
/// permitted go to the recorder at once.
struct Feeder {
    queue: DownloadQueue,
    db: Db,
    allowed: AllowList,
    jobs: mpsc::Sender<Job>,
    finished: mpsc::Sender<Finished>,
    /// Stores whose last look found nothing for the lanes: an image that is refused there stays so, since the list
    /// of hosts changes with a restart only.
    settled: HashSet<StoreId>,
}

impl BackgroundLoop for Feeder {
    async fn run(&mut self) {
        loop {
            // a panic has ended the last look; the store's next refresh brings it back
            self.queue.looked_up();
            let ask = self.queue.next().await;
            match self.wanted(&ask).await {
                Ok(images) => self.hand_out(images, &ask).await,
                Err(error) => events::images_not_looked_up(ask.store, &error),
            }
        }
    }
}

impl Feeder {
    async fn wanted(&self, ask: &StoreAsk) -> Result<Vec<WantedImage>, DbError> {
        fail::fail_point!("images.feeder");
        let wanted = match ask.refetch {
            true => ImageSelection::All,
            false if self.settled.contains(&ask.store) => ImageSelection::Due,
            false => ImageSelection::Missing,
        };
        let is_permitted = |address: &str| self.allowed.permits(address);
        db::products::images::of_store_and_brands(&self.db.client().await?, ask.store, wanted, &is_permitted).await
    }

    async fn hand_out(&mut self, images: Vec<WantedImage>, ask: &StoreAsk) {
        let mut is_settled = ask.limit.is_none();
        for image in images.into_iter().take(ask.limit.unwrap_or(usize::MAX)) {
            let refusal = fetch::permitted(&self.allowed, &image.url).err();
            is_settled &= refusal.is_some();
            let Some(under_way) = self.queue.begin(image.owner) else { continue };
            let is_received = match refusal {
                Some(outcome) => self.finished.send(Finished { image, under_way, outcome }).await.is_ok(),
                None => {
                    let job = Job { image, under_way, store: ask.store, refetch: ask.refetch };
                    self.jobs.send(job).await.is_ok()
                }
            };
            if !is_received {
                return;
            }
        }
        match is_settled {
            true => self.settled.insert(ask.store),
            false => self.settled.remove(&ask.store),
        };
    }
}
