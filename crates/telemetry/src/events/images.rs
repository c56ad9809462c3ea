//! Images: outcomes of their downloads.

use std::fmt;

use tracing::{debug, info, warn};

use crate::metrics;
use domain::menu::image::ImageFailure;
use domain::store::StoreId;

/// `bytes` as downloaded.
pub fn image_stored(bytes: u64) {
    metrics::IMAGES.with_label_values(&["stored"]).inc();
    metrics::IMAGE_BYTES.inc_by(bytes);
}

/// Its file was there already.
pub fn image_found() {
    metrics::IMAGES.with_label_values(&["found"]).inc();
}

pub fn image_failed(url: &str, reason: ImageFailure, detail: &str) {
    metrics::IMAGES.with_label_values(&[reason.name()]).inc();
    debug!(url, %reason, "Image not stored: {detail}");
}

/// Reports a download that failed by no fault of the image: the next refresh of its store tries again.
pub fn image_postponed(url: &str, detail: &str) {
    metrics::IMAGES.with_label_values(&["postponed"]).inc();
    debug!(url, "Image postponed: {detail}");
}

pub fn images_left_out(store: StoreId, max: usize) {
    info!(store, "Images of store {store} wait for its next refresh: the images of {max} stores are queued already");
}

pub fn images_not_looked_up(store: StoreId, error: &dyn fmt::Display) {
    warn!(store, "Images of store {store} wait for its next refresh: {error}");
}

/// The files stay, and are found by the next look at their stores.
pub fn images_not_noted(images: usize, error: &dyn fmt::Display) {
    warn!(images, "The outcomes of {images} downloads of images could not be saved: {error}");
}

/// An image was answered; `source` is `memory`, `disk`, `original` or `rendered`.
pub fn image_served(source: &'static str) {
    metrics::IMAGES_SERVED.with_label_values(&[source]).inc();
}

/// The next client waits for the same again.
pub fn image_not_cached(error: &dyn fmt::Display) {
    metrics::IMAGES_NOT_CACHED.inc();
    debug!("A resized image was not kept: {error}");
}

/// Files that no row names any more, and temporary ones.
pub fn images_swept(removed: usize) {
    if removed > 0 {
        info!(removed, "Removed {removed} image files that no product or brand uses any longer");
    }
}
