//! `Left`: files that could not be moved or removed. Each costs itself alone; together they are one line of the log.

use telemetry::events;

use super::error::StorageError;

/// Logs and counts them when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Left {
    count: usize,
    first: Option<(String, StorageError)>,
}

impl Left {
    pub fn add(&mut self, path: &str, error: StorageError) {
        self.count += 1;
        self.first.get_or_insert_with(|| (path.to_owned(), error));
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if let Some((path, error)) = &self.first {
            events::files_left(self.count, path, error);
        }
    }
}
