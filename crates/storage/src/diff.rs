//! `Payloads::diff`: two payload files of a store, compared.
//!
//! In: their rows, and how a platform's answers become products: a function, since files know no platforms.
//! Out: a [`PayloadDiff`]. One file is held inflated at a time, and one comparison of the process is made at
//! a time.

use tokio::sync::Semaphore;

use super::{Payloads, StorageError};
use domain::menu::Normalise;
use domain::payload::Payload;
use domain::payload::diff::{PayloadDiff, ProductOffer, offers};

/// A comparison may take as much memory as the largest menu does; the others wait for it.
static COMPARISONS: Semaphore = Semaphore::const_new(1);

impl Payloads {
    /// Changes between two payloads. `Missing` or `Corrupt` where a file is away, damaged or not a menu.
    pub async fn diff(&self, from: &Payload, to: &Payload, normalise: Normalise) -> Result<PayloadDiff, StorageError> {
        // it is never closed; without a permit the comparison would still be right
        let _permit = COMPARISONS.acquire().await.ok();
        let before = self.offers(from, normalise).await?;
        let after = self.offers(to, normalise).await?;
        let (from, to) = (from.clone(), to.clone());
        Ok(foundation::cpu::run(move || PayloadDiff::new((&from, before), (&to, after))).await)
    }

    async fn offers(&self, payload: &Payload, normalise: Normalise) -> Result<Vec<ProductOffer>, StorageError> {
        let platform = payload.platform;
        let read = self.read_with(&payload.storage_path, &payload.sha256, move |stored| {
            normalise(platform, &stored.pages()).map(offers)
        });
        read.await?
            .map_err(|error| StorageError::Corrupt { path: payload.storage_path.clone(), reason: error.to_string() })
    }
}
