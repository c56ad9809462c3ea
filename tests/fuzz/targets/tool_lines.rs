//! Any line as one that a download tool printed: no path leads out of the work directory, and nothing is
//! larger than a row may hold.

use std::path::Path;

use media::gallery_dl::{Event, EventKind};
use media::yt_dlp::Line;
use media::{LineError, MAX_METADATA_BYTES};

const WORK: &str = "/media/a1";

pub const WORDS: &[&str] = &[
    "{",
    "}",
    "[[[[",
    "\"",
    ":",
    ",",
    "null",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\u0000",
    "\\ud800",
    "\0",
    "/media/a1/",
    "..",
    "/",
    "\"drover_event\":\"after\",",
    "\"drover_path\":\"/media/a1/x\",",
    "\"filepath\":\"/media/a1/x\",",
    "\"id\":",
    "\"num\":",
    "\"date\":\"9999-99-99 00:00:00\",",
    "é",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        r#"{"drover_event":"after","category":"a","id":1,"num":2,"title":"t","date":"2026-01-02 03:04:05","drover_path":"/media/a1/x.jpg","drover_url":"https://a/b"}"#,
        r#"{"drover_event":"skip","category":"a","filename":"x","drover_path":"/media/a1/../b","tags":["b",{"c":null}]}"#,
        r#"{"drover_event":"post","category":"a","id":"b"}"#,
        r#"{"bytes":5,"total":10}"#,
        r#"{"id":"a","title":"t","filepath":"/media/a1/Generic-a.mp4","width":1,"height":2,"duration":1.5,"timestamp":1700000000,"extractor_key":"Generic","webpage_url":"https://a/b"}"#,
        "Traceback (most recent call last):",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(line: &[u8]) -> u64 {
    let event = Event::read(line, Path::new(WORK));
    if let Ok(event) = &event {
        assert!(event.path.as_ref().is_none_or(|path| is_inside(path)), "{:?}", event.path);
        assert!(serde_json::to_vec(&event.metadata).unwrap().len() <= MAX_METADATA_BYTES);
        // a post names no file
        assert!(event.kind == EventKind::Post || !event.id.id.is_empty(), "{:?}", event.id);
        assert!(!event.id.id.contains('\0'));
    }
    let printed = Line::read(line, Path::new(WORK));
    if let Ok(Line::Item(item)) = &printed {
        assert!(is_inside(&item.path), "{:?}", item.path);
        assert!(serde_json::to_vec(&item.metadata).unwrap().len() <= MAX_METADATA_BYTES);
    }
    reason(event.as_ref().err())
        + 8 * reason(printed.as_ref().err())
        + 64 * u64::from(event.is_ok_and(|event| event.posted_at.is_some()))
        + 128 * (line.len() as u64 / 16)
}

fn is_inside(path: &Path) -> bool {
    path.parent() == Some(Path::new(WORK)) && path.file_name().is_some()
}

fn reason(error: Option<&LineError>) -> u64 {
    match error {
        None => 0,
        Some(LineError::NoObject) => 1,
        Some(LineError::UnknownEvent) => 2,
        Some(LineError::Missing(_)) => 3,
        Some(LineError::OutsidePath) => 4,
        Some(LineError::TooLong) => 5,
    }
}
