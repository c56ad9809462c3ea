//! The demo's images: compares each file with the simulator's picture, byte for byte.
//!
//! One crawl waits until all are downloaded. A continuous demo does not: it compares some new ones after each
//! crawl, so that crawls begin in time and its processors rest between them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use sim::{Photo, PictureAnswer, Simulator};

use super::crawl;
use crate::downloads::DownloadQueue;
use db::products::images::OriginalImage;
use db::{Client, Db, DbError, demo};
use domain::amounts::counted;
use foundation::cpu;
use foundation::digest::sha256_hex;
use storage::Images;

/// Maximum listed differences; all are counted.
const MAX_EXAMPLES: usize = 20;

/// Maximum images that a continuous demo compares after one crawl: each is decoded and encoded for it.
const MAX_COMPARED: usize = 200;

#[derive(Clone, Debug, Default, Serialize)]
pub struct ImageReport {
    /// Products and brands with a stored image.
    pub stored: usize,
    /// Products and brands whose picture is not an image that can be kept.
    pub bad: usize,
    /// Products and brands whose picture is still to be downloaded, in a continuous demo.
    pub to_come: usize,
    /// Stored images that were compared until now.
    pub compared: usize,
    /// Seconds from the end of the last task until all were downloaded; None where that was not awaited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Every compared picture is stored, byte for byte, and no bad one is.
    pub equal: bool,
    pub differences: usize,
    #[serde(skip)]
    pub examples: Vec<String>,
}

/// The images that were compared, over all crawls of a demo.
#[derive(Debug, Default)]
pub struct ImageCheck {
    equal: HashSet<String>,
    /// Digests of the files that are stored for pictures, by the digest of the picture.
    expected: HashMap<String, Option<String>>,
}

/// Waits until every pending image is downloaded, including images that an earlier demo in this directory
/// left.
pub async fn wait(db: &Db, queue: &DownloadQueue) -> Result<Duration, DbError> {
    let begun = Instant::now();
    for store in db::products::images::stores(&db.client().await?, None, None).await? {
        queue.add(store);
    }
    let (mut progress, bar) = (queue.progress(), crawl::image_bar());
    loop {
        let now = progress.borrow_and_update().clone();
        bar.set_position(now.ended());
        bar.set_message(format!("stores to look at {}, under way {}, failed {}", now.stores, now.images, now.failed()));
        if now.is_idle() || progress.changed().await.is_err() {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(begun.elapsed())
}

impl ImageCheck {
    /// All images, after a wait until all were downloaded.
    pub async fn all(
        &mut self,
        client: &Client,
        sim: &Simulator,
        root: &Path,
        waited: Duration,
    ) -> Result<ImageReport, DbError> {
        let (mut report, missing) = self.compare(client, sim, root, usize::MAX).await?;
        report.examples.extend(missing.into_iter().map(|url| format!("{url} is not stored")));
        report.examples.truncate(MAX_EXAMPLES);
        let differences = report.differences + report.to_come;
        let seconds = Some((waited.as_secs_f64() * 100.0).round() / 100.0);
        Ok(ImageReport { equal: differences == 0, differences, seconds, ..report })
    }

    /// Some images that were not compared yet, while others may still be downloaded.
    pub async fn some(&mut self, client: &Client, sim: &Simulator, root: &Path) -> Result<ImageReport, DbError> {
        Ok(self.compare(client, sim, root, MAX_COMPARED).await?.0)
    }

    /// The report, and the addresses of good pictures that are not stored.
    async fn compare(
        &mut self,
        client: &Client,
        sim: &Simulator,
        root: &Path,
        limit: usize,
    ) -> Result<(ImageReport, Vec<String>), DbError> {
        let rows = demo::report::images::all(client).await?;
        let (images, mut report) = (Images::under(root), ImageReport::default());
        let (mut examples, mut missing) = (Vec::new(), Vec::new());
        let mut left = limit;
        for OriginalImage { path, url } in rows {
            let Some(url) = url else { continue };
            report.stored += usize::from(path.is_some());
            match (sim.picture(&url), path) {
                (Some(PictureAnswer::Good(_)), Some(path)) if self.equal.contains(&path) => {}
                (Some(PictureAnswer::Good(photo)), Some(path)) if left > 0 => {
                    left -= 1;
                    if self.is_equal(&images, &path, &photo).await {
                        self.equal.insert(path);
                    } else {
                        report.differences += 1;
                        examples.push(format!("{path} is not the image of {url}"));
                    }
                }
                (Some(PictureAnswer::Good(_)), Some(_)) => {}
                (Some(PictureAnswer::Good(_)), None) => {
                    report.to_come += 1;
                    missing.push(url);
                }
                (_, Some(path)) => {
                    report.differences += 1;
                    examples.push(format!("{path} should not be there: {url}"));
                }
                (_, None) => report.bad += 1,
            }
        }
        examples.truncate(MAX_EXAMPLES);
        (report.equal, report.compared, report.examples) = (report.differences == 0, self.equal.len(), examples);
        Ok((report, missing))
    }

    async fn is_equal(&mut self, images: &Images, path: &str, photo: &Photo) -> bool {
        let expected = match self.expected.get(&photo.sha256) {
            Some(webp) => webp.clone(),
            None => {
                let webp = kept(photo.bytes.to_vec()).await;
                self.expected.insert(photo.sha256.clone(), webp.clone());
                webp
            }
        };
        let read = images.read(path).await.map(|image| sha256_hex(image.bytes)).ok();
        read.is_some() && read == expected && path.contains(&format!("-{}.webp", &photo.sha256[..8]))
    }
}

/// Digest of the file that is stored for a picture.
async fn kept(picture: Vec<u8>) -> Option<String> {
    cpu::run_image(move || image_transform::to_stored(&picture).ok().map(|stored| sha256_hex(stored.webp))).await
}

impl fmt::Display for ImageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            Some(seconds) => write!(f, "{} stored {seconds:.1} s after the last task", self.stored)?,
            None => write!(f, "{} stored, {} to come", self.stored, self.to_come)?,
        }
        write!(f, "; {} not stored, because the simulator serves no usable image for them: nothing to do", self.bad)?;
        match (self.equal, self.seconds) {
            (true, Some(_)) => write!(f, "; each file matches the simulator's"),
            (true, None) => write!(f, "; {} compared, each matches the simulator's", counted(self.compared, "file")),
            (false, _) => write!(f, "; differences {}", self.differences),
        }
    }
}
