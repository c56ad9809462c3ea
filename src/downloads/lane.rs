//! `Lane`: downloads one image after the other, by a session that it keeps while there is work.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::fetch::{self, Outcome};
use super::outage::Outage;
use super::recorder::Finished;
use super::{DownloadDeps, DownloadQueue, ImageSites, Job};
use crate::stealth::{AllowList, Session, SessionAsk, Sessions};
use domain::menu::image::{Subject, WantedImage};
use storage::Images;
use supervision::background::BackgroundLoop;

/// A lane without work gives its proxy back after this time.
const MAX_IDLE: Duration = Duration::from_secs(2);
/// Maximum images by one proxy and identity: a browser does not look at a shop forever.
const MAX_IMAGES: usize = 50;

/// All lanes take from one channel.
pub type Jobs = Arc<Mutex<mpsc::Receiver<Job>>>;

pub struct LaneDeps {
    pub images: Images,
    pub allowed: AllowList,
    pub sites: ImageSites,
    sessions: Sessions,
    /// Time limit of one try of one address.
    pub timeout: Duration,
}

pub struct Lane {
    deps: LaneDeps,
    outage: Outage,
    jobs: Jobs,
    finished: mpsc::Sender<Finished>,
    /// Queue that knows whether a task runs: while one does, this lane takes no image.
    gives_way_to: Option<DownloadQueue>,
    stop: CancellationToken,
    session: Option<OpenSession>,
}

struct OpenSession {
    session: Session,
    state: Option<String>,
    images: usize,
}

impl LaneDeps {
    pub fn new(deps: &DownloadDeps, allowed: &AllowList) -> LaneDeps {
        let DownloadDeps { sessions, images, config, sites, .. } = deps.clone();
        LaneDeps { images, allowed: allowed.clone(), sites, sessions, timeout: config.timeout }
    }
}

impl BackgroundLoop for Lane {
    async fn run(&mut self) {
        let stop = self.stop.clone();
        // None: it was stopped
        let _ = stop.run_until_cancelled(self.download_all()).await;
    }
}

impl Lane {
    pub fn new(
        deps: LaneDeps,
        jobs: Jobs,
        finished: mpsc::Sender<Finished>,
        gives_way_to: Option<DownloadQueue>,
        stop: CancellationToken,
    ) -> Lane {
        Lane { deps, outage: Outage::default(), jobs, finished, gives_way_to, stop, session: None }
    }

    /// Downloads until there can be no more images.
    async fn download_all(&mut self) {
        loop {
            if let Some(queue) = self.gives_way_to.clone() {
                self.wait_for_tasks(&queue).await;
            }
            let Some(job) = self.next().await else { return };
            let outcome = self.download(&job).await;
            let finished = Finished { image: job.image, under_way: job.under_way, outcome };
            if self.finished.send(finished).await.is_err() {
                return;
            }
        }
    }

    /// A proxy is not kept for the length of a task.
    async fn wait_for_tasks(&mut self, queue: &DownloadQueue) {
        if timeout(Duration::ZERO, queue.until_no_run()).await.is_err() {
            self.session = None;
            queue.until_no_run().await;
        }
    }

    async fn next(&mut self) -> Option<Job> {
        if self.session.is_some() {
            let jobs = Arc::clone(&self.jobs);
            match timeout(MAX_IDLE, async move { jobs.lock().await.recv().await }).await {
                Ok(job) => return job,
                Err(_) => self.session = None,
            }
        }
        self.jobs.lock().await.recv().await
    }

    async fn download(&mut self, job: &Job) -> Outcome {
        fail::fail_point!("images.lane");
        if self.outage.is_on() {
            return Outcome::Postponed { detail: "several images before it could not be downloaded".to_owned() };
        }
        let mut open = self.session_for(&job.image);
        open.session.count_for(job.store);
        let outcome = fetch::fetch(&self.deps, &mut open.session, job).await;
        self.outage.note(&outcome);
        open.images += 1;
        self.session = Some(open).filter(|open| open.images < MAX_IMAGES);
        outcome
    }

    /// The session of the last image, where it is of the same state.
    fn session_for(&mut self, image: &WantedImage) -> OpenSession {
        let state = state(image);
        match self.session.take().filter(|open| state.is_none() || open.state == state) {
            Some(open) => open,
            None => {
                let ask = SessionAsk {
                    state: state.clone(),
                    hosts: self.deps.sites.hosts(),
                    is_best_effort: true,
                    ..SessionAsk::default()
                };
                OpenSession { session: self.deps.sessions.open(ask), state, images: 0 }
            }
        }
    }
}

/// State of the store; logos have none.
fn state(image: &WantedImage) -> Option<String> {
    match &image.subject {
        Subject::Product { state, .. } => state.clone(),
        Subject::Brand { .. } => None,
    }
}
