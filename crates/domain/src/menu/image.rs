//! Images of products and brands: whose they are, and why one was not stored.

use super::product::ProductId;
use crate::vocabulary::vocabulary;

/// Tries after which an image is given up until its address changes.
pub const MAX_TRIES: i32 = 5;

/// Id of a row of `brands`.
pub type BrandId = i64;

/// The owner of an image, which names its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Product { state: Option<String>, store: String, brand: Option<String>, provider_product_id: String },
    Brand { slug: String },
}

/// The row that an image belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageOwner {
    Product(ProductId),
    Brand(BrandId),
}

/// An image that is to be downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedImage {
    pub owner: ImageOwner,
    pub subject: Subject,
    /// Address in the feed.
    pub url: String,
}

vocabulary! {
    /// Why an image was not stored. All but `Disk` count as an attempt.
    pub enum ImageFailure {
        /// No answer, or one without success.
        Http,
        TooLarge,
        NotAnImage,
        Truncated,
        /// Its host is not on the list. Nothing was sent, and it is downloaded once its host is on the list.
        RefusedHost,
        /// The address redirects to a host that is not on the list.
        RefusedRedirect,
        /// The robots.txt of its host forbids it.
        Robots,
        /// Downloaded, and could not be written to disk.
        Disk,
    }
}
