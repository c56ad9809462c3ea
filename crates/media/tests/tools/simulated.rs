//! The real tools against the simulated media site: they take its accounts and watch pages whole.

use std::collections::BTreeMap;

use foundation::digest::sha256_hex;
use media::gallery_dl::{Credential, EventKind, Secret};
use media::tool::How;
use media::{Verdict, cookies};
use rstest::rstest;
use sim::media::{Account, AccountKind, MediaFault, MediaFaultKind, MediaPlan, MediaSite, Origin};

use crate::bench::Bench;
use crate::real::tool;
use crate::{gallery_dl, yt_dlp};

const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";

async fn start() -> MediaSite {
    MediaSite::start(MediaPlan::default()).await.unwrap()
}

fn oracle(account: &Account) -> BTreeMap<String, String> {
    account.files().map(|file| (file.name().to_owned(), file.sha256.clone())).collect()
}

#[rstest]
#[case::of_several_pages(AccountKind::Mastodon, "bob")]
#[case::with_a_file_twice(AccountKind::Mastodon, "alice")]
#[case::of_a_board(AccountKind::Moebooru, "x")]
#[tokio::test]
async fn gallery_dl_takes_an_account(#[case] kind: AccountKind, #[case] name: &str) {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), start().await);
    let scraped = gallery_dl::scrape(&bench, &program, site.account_address(kind, name)).await;
    assert_eq!(scraped.ended.how, How::Exit(0), "{}", scraped.ended.stderr);
    let account = site.account(kind, name).unwrap();
    assert_eq!(scraped.hashes(), oracle(&account));
    let times: Vec<_> = scraped.events.iter().filter(|event| event.kind == EventKind::Post).collect();
    assert!(times.iter().zip(&account.posts).all(|(event, post)| event.posted_at == Some(post.posted_at)));
}

#[tokio::test]
async fn gallery_dl_takes_a_new_post_alone() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), start().await);
    let address = site.account_address(AccountKind::Mastodon, "alice");
    gallery_dl::scrape(&bench, &program, address.clone()).await;
    let post = site.publish_post(AccountKind::Mastodon, "alice").unwrap();
    let second = gallery_dl::scrape(&bench, &program, address).await;
    let new = post.files.iter().map(|file| (file.name().to_owned(), file.sha256.clone()));
    assert_eq!(second.hashes(), new.collect());
}

#[tokio::test]
async fn gallery_dl_sends_a_token_to_the_site_and_not_where_it_redirects() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), start().await);
    let carol = site.account(AccountKind::Mastodon, "carol").unwrap();
    for file in carol.files() {
        site.add_fault(&file.path, MediaFault::new(MediaFaultKind::RedirectElsewhere));
    }
    let token = carol.token.clone().unwrap();
    let credential = Credential { category: "mastodon".to_owned(), secret: Secret::Token(token.clone()) };
    let addresses = [site.account_address(AccountKind::Mastodon, "carol")];
    let command = gallery_dl::command(&bench, &program, &addresses, Some(credential));
    let scraped = gallery_dl::run(&bench, command).await;
    assert_eq!(scraped.hashes(), oracle(&carol), "{}", scraped.ended.stderr);
    let seen = site.occurrences(&token);
    assert!(!seen.is_empty() && seen.iter().all(|occurrence| occurrence.origin == Origin::Site), "{seen:?}");
    assert!(site.requests().iter().any(|request| request.origin == Origin::Elsewhere));
}

#[tokio::test]
async fn gallery_dl_sends_cookies_to_their_host_and_not_where_it_redirects() {
    let Some(program) = tool("gallery-dl") else { return };
    let (bench, site) = (Bench::new(), start().await);
    let account = site.account(AccountKind::Mastodon, "alice").unwrap();
    for file in account.files() {
        site.add_fault(&file.path, MediaFault::new(MediaFaultKind::RedirectElsewhere));
    }
    let file = bench.path().join("cookies.txt");
    let of_all = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tcanary\nelsewhere.example\tFALSE\t/\tFALSE\t0\ta\tb\n";
    let cookies = cookies::of_host(cookies::read(of_all).unwrap(), "127.0.0.1");
    std::fs::write(&file, cookies::file(&cookies)).unwrap();
    let secret = Secret::Cookies { file: file.clone(), secrets: vec!["canary".to_owned()] };
    let credential = Credential { category: "mastodon".to_owned(), secret };
    let addresses = [site.account_address(AccountKind::Mastodon, "alice")];
    let scraped = gallery_dl::run(&bench, gallery_dl::command(&bench, &program, &addresses, Some(credential))).await;
    assert_eq!(scraped.hashes(), oracle(&account), "{}", scraped.ended.stderr);
    let seen = site.occurrences("canary");
    assert!(!seen.is_empty() && seen.iter().all(|occurrence| occurrence.origin == Origin::Site), "{seen:?}");
    assert!(site.requests().iter().any(|request| request.origin == Origin::Elsewhere));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), cookies::file(&cookies), "the tool leaves the file alone");
}

#[tokio::test]
async fn yt_dlp_takes_the_video_of_a_watch_page() {
    let Some(program) = tool("yt-dlp") else { return };
    let (bench, site) = (Bench::new(), start().await);
    let video = site.channel(CHANNEL).unwrap().videos.swap_remove(0);
    let command = yt_dlp::command(&bench, &program, &site.watch_address(&video.id));
    let (ended, items, _) = yt_dlp::run(&bench, command).await;
    assert_eq!(ended.how, How::Exit(0), "{}", ended.stderr);
    let [item] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(sha256_hex(std::fs::read(&item.path).unwrap()), video.file.sha256);
    assert_eq!(media::yt_dlp::verdict(&ended, true), Verdict::Done);
}
