//! Feeds, searches and credits.

use std::collections::HashSet;

use domain::media::appearance::{Appearance, ProductionKind};
use hyper::StatusCode;
use hyper::header::{ETAG, HeaderValue, IF_NONE_MATCH};
use media::clients::{Readable, easynews, tmdb, youtube};
use public_http::{Get, Http};
use sim::media::{Credit, EasynewsFile, MediaPlan, MediaSite, Video};

use crate::ask::{ask, base, body, member, secrets, start};

const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
const QUERY: &str = "quiet harbor";
const PER_PAGE: u32 = 12;

fn expected_video(video: &Video) -> youtube::Video {
    youtube::Video {
        id: video.id.clone(),
        title: video.title.clone(),
        author: Some("Ann & Co".to_owned()),
        published_at: video.published_at,
        updated_at: Some(video.updated_at),
    }
}

#[tokio::test]
async fn a_feed_is_read_whole_and_shows_what_is_published() {
    let site = start().await;
    let feed = async || body(youtube::feed_url(&base(&site), CHANNEL), None).await;
    let newest = || -> Vec<youtube::Video> {
        site.channel(CHANNEL).unwrap().videos.iter().take(15).map(expected_video).collect()
    };
    let first = youtube::read(&feed().await, CHANNEL).unwrap();
    assert_eq!(first.elements, newest());
    let published = site.publish_video(CHANNEL).unwrap();
    let second = youtube::read(&feed().await, CHANNEL).unwrap();
    assert_eq!((&second.elements, &second.elements[0].id), (&newest(), &published.id));
    let new = |after: &Readable<youtube::Video>, before: &Readable<youtube::Video>| {
        after.elements.iter().filter(|video| before.elements.iter().all(|known| known.id != video.id)).count()
    };
    assert!(!youtube::has_gap(&second, new(&second, &first)));
    (0..15).for_each(|_| drop(site.publish_video(CHANNEL)));
    let third = youtube::read(&feed().await, CHANNEL).unwrap();
    assert!(youtube::has_gap(&third, new(&third, &second)));
}

#[tokio::test]
async fn a_known_feed_is_not_sent_again() {
    let site = start().await;
    let url = youtube::feed_url(&base(&site), CHANNEL);
    let (_, headers, _) = ask(url.clone(), None).await;
    let known: HeaderValue = headers[ETAG].clone();
    let again = Http::new(true).unwrap().get(&Get::of(url).header(IF_NONE_MATCH, known)).await.unwrap();
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    assert!(again.bytes(1).await.unwrap().is_empty());
}

async fn search(site: &MediaSite, page: u32, extensions: &[String]) -> easynews::Page {
    let search = easynews::Search { query: QUERY, extensions, page, per_page: PER_PAGE };
    let url = easynews::search_url(&base(site), search);
    let secrets = secrets(&url, &[("authorization", &member())]);
    easynews::read(&body(url, Some(secrets)).await).unwrap()
}

fn expected_file(found: &EasynewsFile) -> easynews::File {
    easynews::File {
        hash: found.hash.clone(),
        bytes: found.file.size(),
        title: found.title.clone(),
        extension: found.extension.to_owned(),
        duration: Some(found.duration.clone()),
        is_infected: found.is_infected,
    }
}

#[tokio::test]
async fn a_search_is_read_page_by_page_to_its_end() {
    let site = start().await;
    let (mut files, mut seen) = (Vec::new(), HashSet::new());
    for number in 1.. {
        let page = search(&site, number, &[]).await;
        assert_eq!(page.results, 30);
        let goes_on = page.goes_on(number, &seen);
        seen.extend(page.files.iter().map(|file| file.hash.clone()));
        files.extend(page.files);
        if !goes_on {
            break;
        }
    }
    let oracle = site.search(QUERY).unwrap().files;
    assert_eq!(files, oracle.iter().map(expected_file).collect::<Vec<_>>());
    assert!(files.iter().any(|file| file.is_infected) && files.iter().any(|file| !file.is_infected));
}

#[tokio::test]
async fn a_search_leaves_other_extensions_out() {
    let site = start().await;
    let page = search(&site, 1, &["mp4".to_owned(), "avi".to_owned()]).await;
    let oracle = site.search(QUERY).unwrap().files;
    let wanted = oracle.iter().filter(|file| file.extension == ".mp4").take(PER_PAGE as usize);
    assert_eq!(page.files, wanted.map(expected_file).collect::<Vec<_>>());
}

#[tokio::test]
async fn addresses_of_found_files_are_those_of_the_site() {
    for elsewhere in [false, true] {
        let plan = MediaPlan { easynews_files_elsewhere: elsewhere, ..MediaPlan::default() };
        let site = MediaSite::start(plan).await.unwrap();
        let page = search(&site, 1, &[]).await;
        let origin = if elsewhere { site.elsewhere() } else { site.url() };
        let oracle = site.search(QUERY).unwrap().files;
        for (file, found) in page.files.iter().zip(&oracle) {
            assert_eq!(page.file_url(file).as_str(), format!("{origin}{}", found.file.path));
        }
    }
}

fn expected_credit(credit: &Credit) -> Appearance {
    Appearance {
        credit_id: credit.credit_id.clone(),
        media_type: if credit.media_type == "tv" { ProductionKind::Tv } else { ProductionKind::Movie },
        tmdb_id: credit.tmdb_id,
        title: credit.title.clone(),
        character: credit.character.clone(),
        department: credit.department.clone(),
        job: credit.job.clone(),
        episode_count: credit.episode_count,
        released_on: credit.released_on,
    }
}

#[tokio::test]
async fn credits_are_read_by_either_kind_of_key() {
    for key in ["tmdb.token", "0123456789abcdef0123456789abcdef"] {
        let plan = MediaPlan { tmdb_key: key.to_owned(), ..MediaPlan::default() };
        let site = MediaSite::start(plan).await.unwrap();
        let mut url = tmdb::credits_url(&base(&site), 42);
        let bearer = format!("Bearer {key}");
        let secrets = match tmdb::KeyKind::of(key) {
            tmdb::KeyKind::Bearer => Some(secrets(&url, &[("authorization", &bearer)])),
            tmdb::KeyKind::ApiKey => {
                url.query_pairs_mut().append_pair("api_key", key);
                None
            }
        };
        let person = site.person(42).unwrap();
        let oracle: Vec<_> = person.cast.iter().chain(&person.crew).map(expected_credit).collect();
        assert_eq!(tmdb::read(&body(url, secrets).await).unwrap().appearances.elements, oracle);
    }
}

#[tokio::test]
async fn services_refuse_who_has_no_secret() {
    let site = start().await;
    let search = easynews::Search { query: QUERY, extensions: &[], page: 1, per_page: PER_PAGE };
    let addresses = [tmdb::credits_url(&base(&site), 42), easynews::search_url(&base(&site), search)];
    for url in addresses {
        assert_eq!(ask(url, None).await.0, StatusCode::UNAUTHORIZED);
    }
}
