//! A program without the feature `cloud`: no bucket can be opened.

use std::sync::Arc;

use super::files::Files;
use super::place::PlaceError;
use settings::Storage;

pub(super) fn open(_: &Storage) -> Result<Arc<dyn Files>, PlaceError> {
    Err(PlaceError::NoDriver)
}
