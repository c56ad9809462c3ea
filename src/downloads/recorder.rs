//! `Recorder`: notes the outcomes of images in the database, many at a time.
//!
//! A file whose row cannot be written is not lost: the next look at its store finds it.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::download_queue::UnderWay;
use super::fetch::Outcome;
use db::{Db, DbError};
use domain::menu::image::{ImageFailure, ImageOwner, WantedImage};
use supervision::background::BackgroundLoop;
use telemetry::events;

/// Maximum number of images that one statement notes.
const MAX_BATCH: usize = 256;
const MAX_DELAY: Duration = Duration::from_millis(200);
/// How often a row that a refresh is writing is tried again.
const MAX_TRIES: usize = 20;

/// An image whose download has ended.
pub struct Finished {
    pub image: WantedImage,
    pub under_way: UnderWay,
    pub outcome: Outcome,
}

pub struct Recorder {
    db: Db,
    retry_base: Duration,
    finished: mpsc::Receiver<Finished>,
    stored: Vec<StoredImage>,
    failed: Vec<FailedImage>,
}

struct StoredImage {
    owner: ImageOwner,
    under_way: UnderWay,
    path: String,
    /// Bytes as downloaded; None where the file was there already.
    bytes: Option<u64>,
    tries: usize,
}

struct FailedImage {
    image: WantedImage,
    under_way: UnderWay,
    reason: ImageFailure,
}

impl BackgroundLoop for Recorder {
    /// Records until no lane is left.
    async fn run(&mut self) {
        let mut flushes = tokio::time::interval(MAX_DELAY);
        flushes.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                next = self.finished.recv() => match next {
                    Some(finished) => self.note(finished),
                    None => break,
                },
                _ = flushes.tick(), if self.pending() > 0 => self.flush().await,
            }
            if self.pending() >= MAX_BATCH {
                self.flush().await;
            }
        }
        self.flush().await;
    }
}

impl Recorder {
    pub fn new(db: Db, retry_base: Duration, finished: mpsc::Receiver<Finished>) -> Recorder {
        Recorder { db, retry_base, finished, stored: Vec::new(), failed: Vec::new() }
    }

    fn pending(&self) -> usize {
        self.stored.len() + self.failed.len()
    }

    fn note(&mut self, finished: Finished) {
        fail::fail_point!("images.recorder");
        let Finished { image, under_way, outcome } = finished;
        let owner = image.owner;
        let (path, bytes) = match outcome {
            Outcome::Stored { path, bytes } => (path, Some(bytes)),
            Outcome::Found { path } => (path, None),
            Outcome::Failed { reason, detail } => {
                events::image_failed(&image.url, reason, &detail);
                return self.failed.push(FailedImage { image, under_way, reason });
            }
            Outcome::Postponed { detail } => {
                events::image_postponed(&image.url, &detail);
                return under_way.end(|progress| progress.postponed += 1);
            }
        };
        self.stored.push(StoredImage { owner, under_way, path, bytes, tries: 0 });
    }

    async fn flush(&mut self) {
        self.flush_failed().await;
        self.flush_stored().await;
    }

    async fn flush_failed(&mut self) {
        if self.failed.is_empty() {
            return;
        }
        let failures: Vec<_> = self.failed.iter().map(|failed| (&failed.image, failed.reason)).collect();
        let noted = async { db::products::images::fail(&self.db.client().await?, &failures, self.retry_base).await };
        if let Err(error) = noted.await {
            events::images_not_noted(failures.len(), &error);
        }
        for FailedImage { under_way, reason, .. } in self.failed.drain(..) {
            under_way.end(|progress| *progress.failed.entry(reason).or_default() += 1);
        }
    }

    /// Rows that a refresh holds stay for the next flush.
    async fn flush_stored(&mut self) {
        if self.stored.is_empty() {
            return;
        }
        let noted = match self.store().await {
            Ok(noted) => noted,
            Err(error) => {
                events::images_not_noted(self.stored.len(), &error);
                Vec::new()
            }
        };
        self.add_totals(&noted).await;
        for mut image in std::mem::take(&mut self.stored) {
            image.tries += 1;
            if noted.contains(&image.owner) || image.tries >= MAX_TRIES {
                end(image);
            } else {
                self.stored.push(image);
            }
        }
    }

    /// Adds the totals, which are for people: one that a crash leaves behind is not corrected.
    async fn add_totals(&self, noted: &[ImageOwner]) {
        let downloaded =
            self.stored.iter().filter(|image| noted.contains(&image.owner)).filter_map(|image| image.bytes);
        let (images, bytes) = downloaded.fold((0, 0), |(images, sum), bytes| (images + 1, sum + bytes));
        let add = async { db::products::images::add_totals(&self.db.client().await?, images, bytes).await };
        if images > 0
            && let Err(error) = add.await
        {
            events::images_not_noted(images as usize, &error);
        }
    }

    async fn store(&self) -> Result<Vec<ImageOwner>, DbError> {
        let images: Vec<(ImageOwner, String)> =
            self.stored.iter().map(|image| (image.owner, image.path.clone())).collect();
        db::products::images::store(&self.db.client().await?, &images).await
    }
}

fn end(image: StoredImage) {
    match image.bytes {
        Some(bytes) => events::image_stored(bytes),
        None => events::image_found(),
    }
    image.under_way.end(|progress| match image.bytes {
        Some(bytes) => (progress.stored, progress.bytes) = (progress.stored + 1, progress.bytes + bytes),
        None => progress.found += 1,
    });
}
