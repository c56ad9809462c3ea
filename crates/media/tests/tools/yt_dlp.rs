//! The real yt-dlp, against a site of ours: a file hash for hash, resuming, exit codes.

use std::path::Path;
use std::time::Duration;

use foundation::digest::sha256_hex;
use media::Verdict;
use media::tool::{Command, Ended, How};
use media::yt_dlp::{Download, Item, Line, error_message, verdict};
use rstest::rstest;

use crate::bench::{Bench, PATIENCE};
use crate::real::tool;
use crate::site::{Site, content};
use crate::wait::until;

/// A run of a whole Python on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(120);

fn download_of<'a>(bench: &'a Bench, address: &'a str) -> Download<'a> {
    Download {
        address,
        work: bench.path(),
        max_bytes: 1 << 20,
        login: None,
        cookies: None,
        proxy: None,
        has_ffmpeg: false,
        script_runtime: None,
    }
}

pub fn command(bench: &Bench, program: &Path, address: &str) -> Command {
    let mut command = download_of(bench, address).command(program).unwrap();
    (command.limits.time, command.limits.grace) = (MAX_TIME, PATIENCE);
    command
}

/// The end, the items, and the last progress.
pub async fn run(bench: &Bench, command: Command) -> (Ended, Vec<Item>, Option<u64>) {
    let (ended, lines) = bench.run(command).await;
    let (mut items, mut last) = (vec![], None);
    for line in lines {
        match Line::read(line.as_bytes(), bench.path()).unwrap() {
            Line::Item(item) => items.push(*item),
            Line::Progress { bytes, total } => {
                assert!(total.is_none_or(|total| bytes <= total));
                last = Some(bytes);
            }
        }
    }
    (ended, items, last)
}

#[tokio::test]
async fn a_video_is_downloaded() {
    let Some(program) = tool("yt-dlp") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let address = site.url("/media/v.mp4?a='b'&c=#d");
    let (ended, items, bytes) = run(&bench, command(&bench, &program, &address)).await;
    assert_eq!(ended.how, How::Exit(0), "{}", ended.stderr);
    let expected = content("v.mp4");
    assert_eq!(items.len(), 1);
    assert_eq!(sha256_hex(std::fs::read(&items[0].path).unwrap()), sha256_hex(&expected));
    assert_eq!((items[0].extractor.as_str(), items[0].page.as_deref()), ("Generic", Some(address.as_str())));
    assert_eq!(bytes, Some(expected.len() as u64));
    assert_eq!(verdict(&ended, true), Verdict::Done);
}

#[tokio::test]
async fn a_cancelled_download_resumes() {
    let Some(program) = tool("yt-dlp") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    site.stall(true);
    let address = site.url("/slow/v.mp4");
    let part = bench.path().join("Generic-v.mp4.part");
    let has_part = async || part.metadata().is_ok_and(|found| found.len() > 0);
    let first = command(&bench, &program, &address);
    let (ended, _) = bench.run_until(first, until("a part came", PATIENCE, has_part)).await;
    assert_eq!(ended.how, How::Cancelled);
    assert!(part.exists());

    site.stall(false);
    let (ended, items, _) = run(&bench, command(&bench, &program, &address)).await;
    assert_eq!(ended.how, How::Exit(0), "{}", ended.stderr);
    assert_eq!(sha256_hex(std::fs::read(&items[0].path).unwrap()), sha256_hex(content("v.mp4")));
    assert!(site.heads().iter().any(|head| head.contains("range: bytes=") && !head.contains("range: bytes=0-")));
}

#[rstest]
#[case::unauthorized("/status/401.mp4", "HTTP Error 401", Verdict::Permanent { login: true })]
#[case::not_found("/status/404.mp4", "HTTP Error 404", Verdict::Permanent { login: false })]
#[case::too_many("/status/429.mp4", "HTTP Error 429", Verdict::Retry)]
#[tokio::test]
async fn a_site_that_refuses_ends_with(#[case] path: &str, #[case] said: &str, #[case] expected: Verdict) {
    let Some(program) = tool("yt-dlp") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let (ended, items, _) = run(&bench, command(&bench, &program, &site.url(path))).await;
    assert_eq!((ended.how, items.len()), (How::Exit(1), 0), "{}", ended.stderr);
    assert!(error_message(&ended).unwrap().contains(said), "{}", ended.stderr);
    assert_eq!(verdict(&ended, false), expected);
}

#[tokio::test]
async fn a_file_above_the_maximum_is_left_out() {
    let Some(program) = tool("yt-dlp") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let address = site.url("/media/v.mp4");
    let download = Download { max_bytes: 1000, ..download_of(&bench, &address) };
    let (ended, items, _) = run(&bench, download.command(&program).unwrap()).await;
    assert_eq!((ended.how, items.len()), (How::Exit(0), 0), "{}", ended.stderr);
    assert_eq!(verdict(&ended, false), Verdict::Permanent { login: false });
}

#[tokio::test]
async fn a_file_that_grows_too_large_is_named() {
    let Some(program) = tool("yt-dlp") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let mut command = command(&bench, &program, &site.url("/media/v.mp4"));
    command.limits.file_size = 100_000;
    let (ended, items, _) = run(&bench, command).await;
    assert_eq!((ended.how, items.len()), (How::Exit(1), 0), "{}", ended.stderr);
    assert!(ended.stderr.contains("File too large"), "{}", ended.stderr);
}
