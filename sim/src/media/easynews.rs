//! Easynews' search and the files that it finds, both for members only.

use http::StatusCode;
use serde_json::{Value, json};
use url::Url;

use super::answer::{self, Answer, Request, ask_login, is_logged_in, json_of, number, parameter};
use super::content::{FileKind, MediaFile, key, sha256};
use super::faults::MediaFaultKind;
use super::files;
use super::oracle::Search;
use super::plan::SearchPlan;
use super::router::whole_path;
use super::world::World;
use crate::draw::{Draw, Topic};
use crate::words;

/// Files are below it.
pub(super) const FILES: &str = "/dl/";
const FARM: &str = "auto";
const PORT: u16 = 443;
const MAX_PER_PAGE: usize = 1_000;
const DEFAULT_PER_PAGE: usize = 250;
const HASH_LENGTH: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EasynewsFile {
    pub hash: String,
    pub title: String,
    /// Extension with its dot. Whatever it is, the bytes are a video's.
    pub extension: &'static str,
    pub duration: String,
    pub is_infected: bool,
    pub file: MediaFile,
}

pub(super) fn search(seed: u64, plan: &SearchPlan) -> Search {
    let mut search = Search { query: plan.query.clone(), files: Vec::new() };
    for _ in 0..plan.files {
        add_file(seed, &mut search);
    }
    search
}

/// The next file that the search finds, the newest now.
pub(super) fn add_file(seed: u64, search: &mut Search) -> EasynewsFile {
    let number = search.files.len();
    let mut draw = Draw::of(seed, Topic::EasynewsFile, &[key(&search.query), number as u64]);
    let hash = sha256(format!("{seed} {} {number}", search.query).as_bytes())[..HASH_LENGTH].to_owned();
    let extension = *draw.pick(&[".mkv", ".mp4"]);
    let title = format!("{} {} ({number})", words::company(&mut draw), words::strain(&mut draw));
    let path = path(&hash, extension, &title);
    let found = EasynewsFile {
        title,
        extension,
        duration: format!("{}h:{}m:{}s", draw.below(3), draw.below(60), draw.below(60)),
        is_infected: number % 7 == 3,
        file: MediaFile::make(seed, &hash, path, FileKind::Mp4),
        hash,
    };
    search.files.insert(0, found.clone());
    found
}

/// Path as the parts of the search's answer make it.
fn path(hash: &str, extension: &str, title: &str) -> String {
    let (stored, shown) = (format!("{hash}{extension}"), format!("{title}{extension}"));
    // the host is never asked: it is there for the encoding of a path
    let url = Url::parse("http://members.invalid/dl").map(|mut url| {
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend([FARM, &PORT.to_string(), &stored, &shown]);
        }
        url.path().to_owned()
    });
    url.unwrap_or_default()
}

/// `/2.0/search/solr-search/advanced`
pub(super) fn respond(world: &World, request: &Request) -> Answer {
    if !is_logged_in(request, &world.plan.easynews_login) {
        return ask_login();
    }
    let query = parameter(request, "gps").unwrap_or_default();
    let extensions = parameter(request, "fex").unwrap_or_default();
    let extensions: Vec<&str> = extensions.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    let is_wanted =
        |file: &&EasynewsFile| extensions.is_empty() || extensions.contains(&file.extension.trim_start_matches('.'));
    let inventory = world.inventory();
    let all = inventory.searches.iter().find(|search| search.query == query).map_or(&[][..], |search| &search.files);
    let found: Vec<&EasynewsFile> = all.iter().filter(is_wanted).collect();
    let per_page: usize = number(request, "pby").unwrap_or(DEFAULT_PER_PAGE).clamp(1, MAX_PER_PAGE);
    let page: usize = number(request, "pno").unwrap_or(1).max(1);
    let shown = found.iter().skip(per_page.saturating_mul(page - 1)).take(per_page);
    let origin = if world.plan.easynews_files_elsewhere { &world.elsewhere } else { &world.url };
    let body = json!({
        "data": shown.map(|file| row(file)).collect::<Vec<_>>(),
        "results": found.len(),
        "downURL": format!("{origin}{}", FILES.trim_end_matches('/')),
        "dlFarm": FARM,
        "dlPort": PORT,
    });
    json_of(StatusCode::OK, &body)
}

fn row(found: &EasynewsFile) -> Value {
    let bytes = found.file.size();
    json!({
        "0": found.hash,
        "4": format!("{:.1} KB", bytes as f64 / 1024.0),
        "10": found.title,
        "11": found.extension,
        "14": found.duration,
        "rawSize": bytes,
        "virus": found.is_infected,
    })
}

/// A file, at whichever origin.
pub(super) fn file(world: &World, request: &Request, faults: &[MediaFaultKind]) -> Answer {
    if !is_logged_in(request, &world.plan.easynews_login) {
        return ask_login();
    }
    match world.file(whole_path(request)) {
        Some(file) => files::respond(request, &file, faults),
        None => answer::text(StatusCode::NOT_FOUND, "not found"),
    }
}
