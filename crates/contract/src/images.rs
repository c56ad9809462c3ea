//! Totals of images of products and brands.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::menu::image::ImageFailure;
use domain::vocabulary::Word;

/// Images of products and brands, of all processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImageTotals {
    /// Total number downloaded and stored.
    pub stored: i64,
    /// Bytes as downloaded.
    pub bytes: i64,
    /// Images whose last try failed, the most frequent reason first; without those from hosts that have been permitted
    /// since.
    pub failed: Vec<FailedImages>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailedImages {
    #[schema(value_type = ImageFailure)]
    pub reason: Word<ImageFailure>,
    pub images: i64,
}
