//! Any text as a path of a payload: none leads out of the root, and each of our paths is spelt in one way
//! only.

use std::path::{Component, Path};

use chrono::NaiveDate;
use storage::layout;

pub const WORDS: &[&str] = &[
    "payloads/",
    "/",
    "..",
    "/../",
    "./",
    "//",
    "\\",
    "\0",
    "store_",
    "_20250110T060507008Z",
    ".json.gz",
    ".orphans/",
    "2025-02-01",
    "2025/01/10",
    "-1",
    "9999999999999999999",
    "%2e%2e",
    "é",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "payloads/2025/01/10/store_123_20250110T060507008Z.json.gz",
        "payloads/.orphans/2025-02-01/store_123_20250110T060507008Z.json.gz",
        "payloads/2025/01/10",
        "payloads/../../etc/passwd",
        "/etc/passwd",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(text: &[u8]) -> u64 {
    let path = &*String::from_utf8_lossy(text);
    let resolved = layout::resolve(Path::new("/data"), path);
    if let Some(file) = &resolved {
        assert!(file.starts_with("/data/payloads") && file != Path::new("/data/payloads"), "{file:?}");
        assert!(file.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir)), "{file:?}");
        assert_eq!(file.to_str(), Some(format!("/data/{path}").as_str()), "a file has one name");
    }
    let at = layout::fetched_at(path);
    assert!(
        at.is_none() || resolved.is_some() && layout::is_payload_name(path),
        "ours, and not to be resolved: {path}"
    );
    let orphan = layout::orphan(path, NaiveDate::MIN);
    assert!(!orphan[layout::ORPHANS.len() + 1..].contains("..") || path.contains(".."), "{orphan}");
    let days = [layout::day(path), layout::orphan_day(path)];
    u64::from(resolved.is_some())
        + 2 * u64::from(at.is_some())
        + 4 * u64::from(layout::is_payload_name(path))
        + 8 * u64::from(days[0].is_some())
        + 16 * u64::from(days[1].is_some())
        + 32 * (path.len() as u64 / 8)
}
