//! The place of the files as `drover doctor` sees it: whether it is writable, the free space of a directory, and the
//! files of payloads.

use std::io;
use std::path::Path;

use super::finding::Finding;
use crate::cli::output;
use db::{Db, payloads, schema};
use settings::Config;
use storage::free_space::{self, free_bytes};
use storage::{Payloads, Place};

/// Number of the newest payloads whose files are checked.
const FILES_CHECKED: i64 = 100;
/// Free space below which stores soon cannot be fetched, in bytes.
const MIN_FREE: u64 = 100_000_000;
/// Free space that is enough for days of a large crawl, in bytes.
const ENOUGH_FREE: u64 = 2_000_000_000;

pub async fn place(config: &Config) -> Finding {
    let place = match Place::of(config) {
        Ok(place) => place,
        Err(error) => return Finding::fault("storage", error.to_string(), "correct this setting or file"),
    };
    match place.root() {
        Some(directory) => root(directory),
        None => bucket(&place).await,
    }
}

/// One object is made and deleted: a right that is missing shows at once.
async fn bucket(place: &Place) -> Finding {
    match place.probe().await {
        Ok(()) => Finding::well("storage", format!("{place} answers and is writable")),
        Err(error) => Finding::fault("storage", error.to_string(), "then run `drover doctor` again"),
    }
}

fn root(root: &Path) -> Finding {
    let shown = root.display();
    // a check creates nothing
    let nearest = free_space::nearest(root);
    match free_where_writable(nearest) {
        Ok(free) if nearest == root => room(&format!("{shown} is writable"), free),
        Ok(free) => room(&format!("{shown} does not exist yet and can be created"), free),
        Err(error) => Finding::fault(
            "storage",
            format!("{shown} is not writable ({error})"),
            "make it writable for this user, or set storage.root to another directory",
        ),
    }
}

/// Errors: nothing can be written to the directory.
pub fn free_where_writable(directory: &Path) -> io::Result<u64> {
    tempfile::NamedTempFile::new_in(directory).and_then(|_| free_bytes(directory))
}

/// `18.5 GB free`
pub fn shown_free(bytes: u64) -> String {
    format!("{} free", output::bytes(i64::try_from(bytes).unwrap_or(i64::MAX)))
}

fn room(state: &str, free: u64) -> Finding {
    let detail = format!("{state}, {}", shown_free(free));
    let remedy = "free space, set storage.root to another disk, or keep less with the retention settings";
    match free {
        0..MIN_FREE => Finding::fault("storage", detail, remedy),
        MIN_FREE..ENOUGH_FREE => Finding::advice("storage", detail, remedy),
        _ => Finding::well("storage", detail),
    }
}

/// Checks that the files of the newest payloads exist, which a restore of the database alone does not bring.
/// None without payloads.
pub async fn payload_files(db: &Db, config: &Config) -> Option<Finding> {
    match missing_files(db, config).await {
        Ok((0, _)) => None,
        Ok((looked_at, missing)) => Some(files_of_rows(looked_at, &missing)),
        Err(error) => Some(Finding::fault(
            "payload files",
            format!("{error:#}"),
            "mount the storage root with the payloads of this database, or correct [storage]",
        )),
    }
}

/// Number of payloads checked, and the paths of missing files.
async fn missing_files(db: &Db, config: &Config) -> anyhow::Result<(usize, Vec<String>)> {
    let client = db.client().await?;
    let paths = payloads::newest_paths(&client, FILES_CHECKED).await?;
    let files = Payloads::new(Place::of(config)?, schema::installation::storage_owner(&client).await?);
    let missing = files.missing(paths.clone()).await?;
    Ok((paths.len(), paths.into_iter().filter(|path| missing.contains(path)).collect()))
}

fn files_of_rows(looked_at: usize, missing: &[String]) -> Finding {
    let Some(first) = missing.first() else {
        return Finding::well("payload files", format!("the newest {looked_at} exist"));
    };
    Finding::fault(
        "payload files",
        format!("{} of the newest {looked_at} are missing, such as {first}", missing.len()),
        "restore the files from the same time as the database; missing ones are fetched again when a refresh needs them",
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::full(0, "FAULT")]
    #[case::nearly_full(99_999_999, "FAULT")]
    #[case::little(100_000_000, "advice")]
    #[case::enough(2_000_000_000, "ok")]
    fn little_free_space_is_advice_and_none_is_a_fault(#[case] free: u64, #[case] mark: &str) {
        let finding = room("/srv is writable", free);
        assert_eq!(finding.mark(), mark, "{}", finding.detail);
    }

    #[test]
    fn a_storage_root_that_is_missing_is_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("share/drover");
        let finding = super::root(&root);
        assert!(finding.ok && finding.detail.contains("can be created"), "{}", finding.detail);
        assert!(!dir.path().join("share").exists());
    }

    #[test]
    fn a_storage_root_that_leads_nowhere_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::os::unix::fs::symlink(dir.path().join("share"), &root).unwrap();
        assert!(!super::root(&root).ok);
    }
}
