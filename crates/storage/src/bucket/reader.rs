//! `ObjectReader`: an object read part by part, in memory that does not grow with it.

use bytes::Bytes;

use super::calls::{Calls, Version};
use crate::error::StorageError;
use crate::files::{Answer, PartReader};

/// Bytes of one request: most payloads are smaller, and are asked for once.
const PAGE: u64 = 1 << 20;

pub struct ObjectReader {
    calls: Calls,
    path: String,
    size: u64,
    version: Version,
    /// Begin of the next part, in bytes.
    at: u64,
    /// A page of the object, and where it begins.
    page: (u64, Bytes),
}

impl ObjectReader {
    /// Opens an object, or returns None if it does not exist.
    pub async fn open(calls: &Calls, path: &str) -> Result<Option<ObjectReader>, StorageError> {
        let Some(first) = calls.get_range(path, 0..PAGE, &Version::default()).await? else { return Ok(None) };
        Ok(Some(ObjectReader {
            calls: calls.clone(),
            path: path.to_owned(),
            size: first.size,
            version: first.version,
            at: 0,
            page: (0, first.bytes),
        }))
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    async fn next(&mut self, most: usize) -> Result<Vec<u8>, StorageError> {
        if self.at >= self.size {
            return Ok(Vec::new());
        }
        if self.rest_of_page().is_empty() {
            let end = self.size.min(self.at + PAGE);
            let page = self.calls.get_range(&self.path, self.at..end, &self.version).await?;
            let changed = || StorageError::Corrupt { path: self.path.clone(), reason: "it was changed".to_owned() };
            self.page = (self.at, page.ok_or_else(changed)?.bytes);
        }
        let rest = self.rest_of_page();
        let part = rest[..rest.len().min(most)].to_vec();
        self.at += part.len() as u64;
        Ok(part)
    }

    fn rest_of_page(&self) -> &[u8] {
        let (begin, bytes) = &self.page;
        let skipped = self.at.checked_sub(*begin).and_then(|skipped| usize::try_from(skipped).ok());
        skipped.and_then(|skipped| bytes.get(skipped..)).unwrap_or_default()
    }
}

impl PartReader for ObjectReader {
    fn read(&mut self, most: usize) -> Answer<'_, Vec<u8>> {
        Box::pin(self.next(most))
    }

    fn rewind(&mut self) -> Answer<'_, ()> {
        self.at = 0;
        Box::pin(std::future::ready(Ok(())))
    }
}
