//! The demo's images: waits until they are downloaded, and compares each file with the simulator's picture,
//! byte for byte.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use sim::{PictureAnswer, Simulator};

use super::crawl;
use crate::downloads::DownloadQueue;
use db::images::OriginalImage;
use db::{Client, Db, DbError, demo_report};
use domain::store::Platform;
use foundation::cpu;
use foundation::digest::sha256_hex;
use storage::Images;

/// Maximum listed differences; all are counted.
const MAX_EXAMPLES: usize = 20;

#[derive(Clone, Debug, Default, Serialize)]
pub struct ImageReport {
    /// Products and brands with a stored image.
    pub stored: usize,
    /// Products and brands whose picture is not an image that can be kept.
    pub bad: usize,
    /// Seconds from the end of the last task until all were downloaded.
    pub seconds: f64,
    /// Every good picture is stored, byte for byte, and no bad one is.
    pub equal: bool,
    pub differences: usize,
    #[serde(skip)]
    pub examples: Vec<String>,
}

/// Waits until every pending image is downloaded, including images that an earlier demo in this directory
/// left.
pub async fn wait(db: &Db, queue: &DownloadQueue) -> Result<Duration, DbError> {
    let begun = Instant::now();
    for store in db::images::stores(&db.client().await?, None, None).await? {
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

pub async fn compare(client: &Client, sim: &Simulator, root: &Path, waited: Duration) -> Result<ImageReport, DbError> {
    let rows = demo_report::images::all(client, Platform::Dutchie).await?;
    let (images, mut report, mut expected) = (Images::under(root), ImageReport::default(), HashMap::new());
    let mut differences = Vec::new();
    for OriginalImage { path, url } in rows {
        let Some(url) = url else { continue };
        report.stored += usize::from(path.is_some());
        match (sim.picture(&url), path) {
            (Some(PictureAnswer::Good(photo)), Some(path)) => {
                let webp = match expected.get(&photo.sha256) {
                    Some(webp) => webp,
                    None => expected.entry(photo.sha256.clone()).or_insert(kept(photo.bytes.to_vec()).await),
                };
                let read = images.read(&path).await.map(|image| sha256_hex(image.bytes)).ok();
                let is_named = path.contains(&format!("-{}.webp", &photo.sha256[..8]));
                if read.is_none() || read != *webp || !is_named {
                    differences.push(format!("{path} is not the image of {url}"));
                }
            }
            (Some(PictureAnswer::Good(_)), None) => differences.push(format!("{url} is not stored")),
            (_, Some(path)) => differences.push(format!("{path} should not be there: {url}")),
            (_, None) => report.bad += 1,
        }
    }
    report.seconds = (waited.as_secs_f64() * 100.0).round() / 100.0;
    (report.equal, report.differences) = (differences.is_empty(), differences.len());
    differences.truncate(MAX_EXAMPLES);
    Ok(ImageReport { examples: differences, ..report })
}

/// Digest of the file that is stored for a picture.
async fn kept(picture: Vec<u8>) -> Option<String> {
    cpu::run_image(move || image_transform::to_stored(&picture).ok().map(|stored| sha256_hex(stored.webp))).await
}

impl fmt::Display for ImageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stored {:.1} s after the last task; {} cannot be kept", self.stored, self.seconds, self.bad)?;
        match self.equal {
            true => write!(f, "; each file is the simulator's"),
            false => write!(f, "; differences {}", self.differences),
        }
    }
}
