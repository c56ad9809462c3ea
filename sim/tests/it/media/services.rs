//! Feeds with their videos, Easynews, TMDb.

use serde_json::Value;
use sim::media::{MediaPlan, MediaSite};

use super::client::{basic, get, get_with, start};

const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
const FEED: &str = "/feeds/videos.xml?channel_id=UCabcdefghijklmnopqrstuv";
const SEARCH: &str = "/2.0/search/solr-search/advanced?gps=quiet+harbor";

#[tokio::test]
async fn a_feed_has_the_newest_fifteen_videos() {
    let site = start().await;
    let channel = site.channel(CHANNEL).unwrap();
    assert_eq!(channel.videos.len(), 20);
    let feed = get(&site, FEED).await.text();
    let ids = feed.split("<yt:videoId>").skip(1).map(|rest| rest.split('<').next().unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), channel.videos[..15].iter().map(|video| &*video.id).collect::<Vec<_>>());
    assert_eq!(get(&site, "/feeds/videos.xml?channel_id=UCother").await.status, 404);
}

#[tokio::test]
async fn a_known_feed_is_not_sent_until_a_video_is_published() {
    let site = start().await;
    let first = get(&site, FEED).await;
    let (etag, date) = (first.header("etag"), first.header("last-modified"));
    for known in [("if-none-match", etag), ("if-modified-since", date)] {
        let again = get_with(&site, FEED, &[known]).await;
        assert_eq!((again.status.as_u16(), again.body.len(), again.header("etag")), (304, 0, etag));
    }
    let video = site.publish_video(CHANNEL).unwrap();
    for known in [("if-none-match", etag), ("if-modified-since", date)] {
        let again = get_with(&site, FEED, &[known]).await;
        assert!(again.status == 200 && again.text().contains(&video.id));
    }
}

#[tokio::test]
async fn a_watch_page_has_the_address_of_its_video() {
    let site = start().await;
    let video = site.channel(CHANNEL).unwrap().videos.swap_remove(19);
    let page = get(&site, &format!("/watch?v={}", video.id)).await.text();
    assert!(page.contains(&format!("<video src=\"{}\"", site.address(&video.file.path))), "{page}");
    assert_eq!(get(&site, &video.file.path).await.body, video.file.content);
    assert_eq!(get(&site, "/watch?v=none").await.status, 404);
}

#[tokio::test]
async fn a_search_is_for_members_and_has_pages() {
    let site = start().await;
    assert_eq!(get(&site, SEARCH).await.status, 401);
    let member = basic("member", "easynews-password");
    let headers = [("authorization", member.as_str())];
    let search = site.search("quiet harbor").unwrap();
    let mut hashes = Vec::new();
    for page in 1..=4 {
        let answer = get_with(&site, &format!("{SEARCH}&pno={page}&pby=12"), &headers).await.json();
        assert_eq!(answer["results"], 30);
        hashes.extend(answer["data"].as_array().unwrap().iter().map(|row| row["0"].as_str().unwrap().to_owned()));
    }
    assert_eq!(hashes, search.files.iter().map(|file| file.hash.clone()).collect::<Vec<_>>());
    let only = get_with(&site, &format!("{SEARCH}&fex=mkv%2C+avi"), &headers).await.json();
    let count = search.files.iter().filter(|file| file.extension == ".mkv").count();
    assert_eq!((only["data"].as_array().unwrap().len(), count > 0), (count, true));
}

#[tokio::test]
async fn a_found_file_is_for_members_too() {
    for elsewhere in [false, true] {
        let plan = MediaPlan { easynews_files_elsewhere: elsewhere, ..MediaPlan::default() };
        let site = MediaSite::start(plan).await.unwrap();
        let found = site.search("quiet harbor").unwrap().files.swap_remove(0);
        let member = basic("member", "easynews-password");
        let answer = get_with(&site, SEARCH, &[("authorization", &member)]).await.json();
        let origin = if elsewhere { site.elsewhere() } else { site.url() };
        assert_eq!(answer["downURL"], format!("{origin}/dl"));
        let address = format!("{origin}{}", found.file.path);
        let ask = async |headers| super::client::ask(&address, http::Method::GET, headers, Default::default()).await;
        assert_eq!(ask(&[]).await.unwrap().status, 401);
        assert_eq!(ask(&[("authorization", &member)]).await.unwrap().body, found.file.content);
    }
}

#[tokio::test]
async fn a_new_found_file_is_the_first() {
    let site = start().await;
    let file = site.publish_easynews_file("quiet harbor").unwrap();
    let member = basic("member", "easynews-password");
    let answer = get_with(&site, SEARCH, &[("authorization", &member)]).await.json();
    assert_eq!((answer["data"][0]["0"].as_str(), &answer["results"]), (Some(&*file.hash), &Value::from(31)));
}

#[tokio::test]
async fn credits_need_a_key_as_header_or_parameter() {
    let site = start().await;
    let path = "/3/person/42/combined_credits";
    assert_eq!(get(&site, path).await.status, 401);
    let by_header = get_with(&site, path, &[("authorization", "Bearer tmdb.token")]).await;
    let by_parameter = get(&site, &format!("{path}?api_key=tmdb.token")).await;
    assert_eq!((by_header.status.as_u16(), &by_header.body), (200, &by_parameter.body));
    assert_eq!(get(&site, "/3/person/1/combined_credits?api_key=tmdb.token").await.status, 404);
}

#[tokio::test]
async fn credits_are_cast_and_crew_and_may_vanish() {
    let site = start().await;
    let path = "/3/person/42/combined_credits?api_key=tmdb.token";
    let ids = |answer: &Value, list: &str| -> Vec<String> {
        answer[list].as_array().unwrap().iter().map(|row| row["credit_id"].as_str().unwrap().to_owned()).collect()
    };
    let person = site.person(42).unwrap();
    let answer = get(&site, path).await.json();
    assert_eq!(ids(&answer, "cast"), person.cast.iter().map(|credit| credit.credit_id.clone()).collect::<Vec<_>>());
    assert_eq!(ids(&answer, "crew"), person.crew.iter().map(|credit| credit.credit_id.clone()).collect::<Vec<_>>());
    let gone = site.remove_credit(42, &person.crew[1].credit_id).unwrap();
    assert_eq!(gone, person.crew[1]);
    assert!(!ids(&get(&site, path).await.json(), "crew").contains(&gone.credit_id));
    assert!(site.remove_credit(42, &gone.credit_id).is_none());
}
