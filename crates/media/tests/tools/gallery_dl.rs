//! The real gallery-dl, against a site of ours: files hash for hash, the archive, resuming, exit codes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use foundation::digest::sha256_hex;
use media::Verdict;
use media::gallery_dl::{
    Archive, Credential, Event, EventKind, ItemId, Scrape, ScrapeType, Secret, UNSUPPORTED_FILE, error_message,
    is_refused, is_whole, unsupported, verdict,
};
use media::tool::{Command, Ended, How};
use rstest::rstest;

use crate::bench::{Bench, PATIENCE};
use crate::real::tool;
use crate::site::{Site, content};
use crate::wait::until;

/// A run of a whole Python on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(120);

pub struct Scraped {
    pub ended: Ended,
    pub events: Vec<Event>,
}

impl Scraped {
    fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|event| event.kind == kind).count()
    }

    fn verdict(&self) -> Verdict {
        verdict(&self.ended, self.count(EventKind::After) > 0)
    }

    /// Hash of each file that came, by the name that the site has for it.
    pub fn hashes(&self) -> BTreeMap<String, String> {
        let after = self.events.iter().filter(|event| event.kind == EventKind::After);
        let hash = |event: &Event| {
            let name = event.url.as_ref().unwrap().rsplit_once('/').unwrap().1.to_owned();
            (name, sha256_hex(std::fs::read(event.path.as_ref().unwrap()).unwrap()))
        };
        after.map(hash).collect()
    }
}

pub fn command(bench: &Bench, program: &Path, addresses: &[String], credential: Option<Credential>) -> Command {
    let scrape = Scrape {
        addresses,
        scrape_type: ScrapeType::Recent,
        work: bench.path(),
        archive: &bench.root.path().join("alice.sqlite3"),
        credential,
        proxy: None,
        wait_after_429: Duration::ZERO,
    };
    let mut command = scrape.command(program).unwrap();
    (command.limits.time, command.limits.grace) = (MAX_TIME, PATIENCE);
    command
}

pub async fn scrape(bench: &Bench, program: &Path, address: String) -> Scraped {
    run(bench, command(bench, program, &[address], None)).await
}

pub async fn run(bench: &Bench, command: Command) -> Scraped {
    let (ended, lines) = bench.run(command).await;
    let events = lines.iter().map(|line| Event::read(line.as_bytes(), bench.path()).unwrap()).collect();
    Scraped { ended, events }
}

fn oracle(names: &[&str]) -> BTreeMap<String, String> {
    names.iter().map(|name| ((*name).to_owned(), sha256_hex(content(name)))).collect()
}

#[tokio::test]
async fn an_account_is_scraped_once() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let first = scrape(&bench, &program, site.account("alice")).await;
    assert_eq!(first.ended.how, How::Exit(0), "{}", first.ended.stderr);
    assert_eq!(first.hashes(), oracle(&["a.jpg", "b.jpg", "c.jpg", "d.jpg"]));
    assert_eq!((first.count(EventKind::Post), first.events[0].id.id.as_str()), (3, "100"));
    assert!(first.events.iter().all(|event| event.posted_at.is_some()));
    assert_eq!(first.verdict(), Verdict::Done);

    // the files went elsewhere: the archive knows them
    let files = first.events.iter().filter_map(|event| event.path.as_ref());
    files.for_each(|path| std::fs::remove_file(path).unwrap());
    let asked_before = site.heads().len();
    let second = scrape(&bench, &program, site.account("alice")).await;
    assert_eq!((second.count(EventKind::Skip), second.count(EventKind::After)), (4, 0));
    assert_eq!(second.verdict(), Verdict::Done);
    let ids = |scraped: &Scraped, kind| {
        let of_kind = scraped.events.iter().filter(|event| event.kind == kind);
        of_kind.map(|event| event.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&first, EventKind::After), ids(&second, EventKind::Skip));
    assert!(!site.heads()[asked_before..].iter().any(|head| head.contains("/media/")), "a file was asked for again");
}

#[tokio::test]
async fn a_cancelled_scrape_resumes() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    site.stall(true);
    let scrape_slow = || command(&bench, &program, &[site.account("slow")], None);
    let part = bench.path().join(format!("{}_98_1.jpg.part", site.address));
    let has_part = async || part.metadata().is_ok_and(|found| found.len() > 0);
    let (ended, lines) = bench.run_until(scrape_slow(), until("a part came", PATIENCE, has_part)).await;
    assert_eq!(ended.how, How::Cancelled);
    assert_eq!(lines.iter().filter(|line| line.contains("\"after\"")).count(), 3, "{lines:#?}");
    assert!(part.exists());

    site.stall(false);
    let second = run(&bench, scrape_slow()).await;
    assert_eq!(second.hashes(), oracle(&["d.jpg"]));
    assert!(site.heads().last().unwrap().contains("range: bytes="));
}

#[tokio::test]
async fn a_token_goes_to_its_site_alone_and_into_no_message() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site, files) = (Bench::new(), Site::start().await, Site::start().await);
    site.with_files_of(&files);
    let credential = || Credential { category: "mastodon".to_owned(), secret: Secret::Token("canary-4711".to_owned()) };
    let alice = run(&bench, command(&bench, &program, &[site.account("alice")], Some(credential()))).await;
    assert_eq!(alice.count(EventKind::After), 4, "{}", alice.ended.stderr);
    assert!(site.heads().iter().all(|head| head.contains("authorization: bearer canary-4711")));
    assert!(!files.heads().is_empty() && !files.heads().iter().any(|head| head.contains("canary")));
    assert!(!alice.ended.stderr.contains("canary"));
}

#[rstest]
#[case::some_files_failed("half", 4, Verdict::Done)]
#[case::no_such_account("gone", 4, Verdict::Permanent { login: false })]
#[case::refused_token("login", 4, Verdict::Retry)]
#[case::asked_to_wait("busy", 0, Verdict::Done)]
#[case::no_posts("empty", 0, Verdict::Done)]
#[tokio::test]
async fn an_account_ends_with(#[case] account: &str, #[case] code: i32, #[case] expected: Verdict) {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let scraped = scrape(&bench, &program, site.account(account)).await;
    assert_eq!(scraped.ended.how, How::Exit(code), "{}", scraped.ended.stderr);
    assert_eq!(scraped.verdict(), expected);
    assert_eq!(scraped.count(EventKind::Error), usize::from(account == "half"));
    assert_eq!(error_message(&scraped.ended).is_some(), code != 0);
}

#[rstest]
#[case::unauthorized("/post?tags=401", 4, Verdict::Retry)]
#[case::not_found("/post?tags=404", 4, Verdict::Retry)]
#[case::too_many("/post?tags=429", 4, Verdict::Retry)]
#[case::challenge("/post?tags=challenge", 8, Verdict::Permanent { login: true })]
#[tokio::test]
async fn a_site_that_refuses_ends_with(#[case] path: &str, #[case] code: i32, #[case] expected: Verdict) {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let scraped = scrape(&bench, &program, format!("moebooru:{}", site.url(path))).await;
    assert_eq!(scraped.ended.how, How::Exit(code), "{}", scraped.ended.stderr);
    assert_eq!(scraped.verdict(), expected);
}

#[tokio::test]
async fn an_unsupported_address_is_permanent() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let scraped = scrape(&bench, &program, site.url("/")).await;
    assert_eq!(scraped.ended.how, How::Exit(64), "{}", scraped.ended.stderr);
    assert_eq!(scraped.verdict(), Verdict::Permanent { login: false });
    // it lists what it finds on the way, not what it was given
    let listed = std::fs::read_to_string(bench.path().join(UNSUPPORTED_FILE)).unwrap_or_default();
    assert!(unsupported(&listed).is_empty());
}

#[tokio::test]
async fn a_file_that_is_too_large_is_named() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let mut command = command(&bench, &program, &[site.url("/media/a.jpg")], None);
    command.limits.file_size = 100_000;
    let scraped = run(&bench, command).await;
    assert!(scraped.ended.stderr.contains("File too large"), "{:?}", scraped.ended);
    assert_eq!((scraped.count(EventKind::After), scraped.verdict()), (0, Verdict::Retry));
}

#[tokio::test]
async fn an_archive_of_ours_is_one_that_the_tool_reads() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let archive = bench.root.path().join("alice.sqlite3");
    let category = site.address.to_string();
    // several levels of pages
    let others = (0..100_000).map(|number| ItemId::entry(&category, &format!("{number}_9")));
    let known = ["100_1", "100_2", "98_1"].map(|name| ItemId::entry(&category, name));
    Archive::create(&archive).unwrap().add(others.chain(known)).unwrap();
    let scraped = scrape(&bench, &program, site.account("alice")).await;
    assert_eq!(scraped.ended.how, How::Exit(0), "{}", scraped.ended.stderr);
    assert_eq!(scraped.hashes(), oracle(&["c.jpg"]));
    assert_eq!(scraped.count(EventKind::Skip), 3);

    let check = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchall())";
    let python = program.with_file_name("python3");
    let checked = std::process::Command::new(python).args(["-c", check]).arg(&archive).output().unwrap();
    assert_eq!(String::from_utf8(checked.stdout).unwrap().trim(), "[('ok',)]");
}

#[rstest]
#[case::single_files("half", true)]
#[case::all("alice", true)]
#[case::the_account("login", false)]
#[tokio::test]
async fn a_scrape_is_whole_unless_more_than_files_failed(#[case] account: &str, #[case] whole: bool) {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let scraped = scrape(&bench, &program, site.account(account)).await;
    assert_eq!(is_whole(&scraped.ended), whole, "{}", scraped.ended.stderr);
}

#[rstest]
#[case::of_the_api("/post?tags=401", true)]
#[case::not_found("/post?tags=404", false)]
#[tokio::test]
async fn a_refusal_is_known(#[case] path: &str, #[case] refused: bool) {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), Site::start().await);
    let scraped = scrape(&bench, &program, format!("moebooru:{}", site.url(path))).await;
    assert_eq!(is_refused(&scraped.ended), refused, "{}", scraped.ended.stderr);
}
