//! Threads of three forums, page by page.

use serde_json::Value;
use sim::media::ThreadKind;

use super::client::{Headers, get, get_with, start};

const KEY: Headers<'static> = &[("api-key", "discourse-key"), ("api-username", "reader")];

#[tokio::test]
async fn a_topic_has_its_first_posts_and_gives_the_others_by_id() {
    let site = start().await;
    let topic = site.thread(ThreadKind::Discourse, 12).unwrap();
    let first = get_with(&site, "/t/12.json", KEY).await.json();
    let numbers =
        |value: &Value| -> Vec<u64> { value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect() };
    let ids: Vec<u64> = topic.posts.iter().map(|post| post.id).collect();
    assert_eq!((numbers(&first["post_stream"]["stream"]), ids.len()), (ids.clone(), 45));
    assert_eq!(first["post_stream"]["posts"].as_array().unwrap().len(), 20);
    let wanted: String = ids[20..45].iter().map(|id| format!("post_ids[]={id}&")).collect();
    let further = get_with(&site, &format!("/t/12/posts.json?{wanted}"), KEY).await.json();
    let posts = further["post_stream"]["posts"].as_array().unwrap().clone();
    assert_eq!(posts.iter().map(|post| post["id"].as_u64().unwrap()).collect::<Vec<_>>(), ids[20..40]);
    assert_eq!(posts[0]["username"], topic.posts[20].author.as_str());
}

#[tokio::test]
async fn a_topic_needs_a_key_of_either_kind() {
    let site = start().await;
    assert_eq!(get(&site, "/t/12.json").await.status, 401);
    assert_eq!(get_with(&site, "/t/12.json", &[("api-key", "discourse-key")]).await.status, 401);
    assert_eq!(get_with(&site, "/t/12.json", &[("user-api-key", "discourse-key")]).await.status, 200);
    assert_eq!(get_with(&site, "/t/99.json", KEY).await.status, 404);
}

#[tokio::test]
async fn pages_of_a_thread_follow_each_other() {
    let site = start().await;
    for (kind, id) in [(ThreadKind::Xenforo, 21), (ThreadKind::Phpbb, 31)] {
        let thread = site.thread(kind, id).unwrap();
        assert_eq!((thread.pages(), thread.posts.len()), (3, 23));
        for page in 1..=3 {
            let html = get(&site, &thread.page_path(page)).await.text();
            let begin = (page - 1) * 10;
            for (at, post) in thread.posts.iter().enumerate() {
                let mark = match kind {
                    ThreadKind::Xenforo => format!("data-content=\"post-{}\"", post.id),
                    _ => format!("id=\"p{}\"", post.id),
                };
                assert_eq!(html.contains(&mark), (begin..begin + 10).contains(&at), "{} on page {page}", post.id);
            }
            let next = thread.page_path(page + 1).replace('&', "&amp;");
            assert_eq!(html.contains(&next), page < 3, "page {page}");
        }
        assert_eq!(get(&site, &thread.page_path(4)).await.status, 404);
    }
}

#[tokio::test]
async fn links_of_posts_are_files_of_the_site() {
    let site = start().await;
    let threads = site.threads();
    let links: Vec<_> = threads.iter().flat_map(|thread| &thread.posts).flat_map(|post| &post.links).collect();
    let files: Vec<_> = links.iter().filter_map(|link| link.file.as_ref()).collect();
    assert!(files.len() > 20 && links.len() > files.len());
    for file in files {
        assert_eq!(get(&site, &file.path).await.body, file.content, "{file:?}");
    }
}

#[tokio::test]
async fn a_thread_may_be_empty_behind_a_challenge_or_a_log_in() {
    let site = start().await;
    let empty = get(&site, "/threads/22/").await;
    assert!(empty.status == 200 && !empty.text().contains("<article"));
    assert_eq!(get(&site, "/threads/23/").await.header("cf-mitigated"), "challenge");
    let guest = get(&site, "/threads/24/").await;
    assert!(guest.status == 403 && !guest.text().contains("<article"));
    let member = get_with(&site, "/threads/24/", &[("cookie", "xf_session=a; xf_user=24,forum-cookie")]).await;
    assert!(member.status == 200 && member.text().contains("<article"));
}

#[tokio::test]
async fn a_thread_is_found_with_its_title_in_the_path() {
    let site = start().await;
    assert_eq!(get(&site, "/threads/a-title.21/page-2").await.body, get(&site, "/threads/21/page-2").await.body);
}

#[tokio::test]
async fn a_new_post_is_the_last() {
    let site = start().await;
    let post = site.publish_forum_post(ThreadKind::Xenforo, 21).unwrap();
    let thread = site.thread(ThreadKind::Xenforo, 21).unwrap();
    assert_eq!((thread.posts.len(), thread.posts.last()), (24, Some(&post)));
    assert!(get(&site, &thread.page_path(3)).await.text().contains(&format!("post-{}", post.id)));
}
