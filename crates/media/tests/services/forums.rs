//! Threads of Discourse, XenForo and phpBB, by the usual selectors.

use domain::media::forum::{ForumPost, MediaLink, SelectorOverrides};
use domain::media::item::ItemKind;
use hyper::StatusCode;
use media::clients::forum_page;
use media::clients::paged_forum::PagedForum;
use media::clients::selectors::Selectors;
use media::clients::{ReadError, discourse};
use public_http::Secrets;
use rstest::rstest;
use sim::media::{MediaSite, ThreadKind};
use url::Url;

use crate::ask::{ask, base, body, secrets, start};

fn key(site: &MediaSite) -> Option<Secrets> {
    Some(secrets(&base(site), &[("api-key", "discourse-key"), ("api-username", "reader")]))
}

#[tokio::test]
async fn a_topic_is_read_to_its_last_post() {
    let site = start().await;
    let first = body(discourse::topic_url(&base(&site), "12"), key(&site)).await;
    let discourse::Topic { posts, stream } = discourse::topic(&first, &base(&site)).unwrap();
    let mut posts = posts.elements;
    let known = posts.len();
    for ids in stream[known..].chunks(discourse::POSTS_A_REQUEST) {
        let further = body(discourse::posts_url(&base(&site), "12", ids), key(&site)).await;
        posts.extend(discourse::posts(&further, &base(&site)).unwrap().elements);
    }
    let thread = site.thread(ThreadKind::Discourse, 12).unwrap();
    assert_eq!((posts.len(), stream.len()), (thread.posts.len(), 45));
    for (post, expected) in posts.iter().zip(&thread.posts) {
        let mut expected_post = self::expected(&site, expected);
        expected_post.number = Some(expected.number as i32);
        assert_eq!(sorted(post.clone()), expected_post);
    }
}

#[tokio::test]
async fn a_topic_refuses_who_has_no_key() {
    let site = start().await;
    assert_eq!(ask(discourse::topic_url(&base(&site), "12"), None).await.0, StatusCode::UNAUTHORIZED);
}

async fn page(url: Url, secrets: Option<Secrets>, software: PagedForum) -> Result<forum_page::ForumPage, ReadError> {
    let html = String::from_utf8(body(url.clone(), secrets).await).unwrap();
    forum_page::read(&html, &url, &Selectors::of(software, &SelectorOverrides::default()).unwrap())
}

/// The post with its links in the order of their addresses: a reader has an order of its own.
fn expected(site: &MediaSite, post: &sim::media::ForumPost) -> ForumPost {
    let link = |link: &sim::media::ForumLink| MediaLink {
        url: site.address(&link.path).parse().unwrap(),
        kind: if link.file.is_some() { ItemKind::File } else { ItemKind::Page },
    };
    sorted(ForumPost {
        external_id: post.id.to_string(),
        number: None,
        author: post.author.clone(),
        posted_at: Some(post.posted_at),
        text: post.text.clone(),
        media: post.links.iter().map(link).collect(),
    })
}

fn sorted(mut post: ForumPost) -> ForumPost {
    post.media.sort_by(|one, other| one.url.as_str().cmp(other.url.as_str()));
    post
}

#[rstest]
#[case(ThreadKind::Xenforo, PagedForum::Xenforo, 21)]
#[case(ThreadKind::Phpbb, PagedForum::Phpbb, 31)]
#[tokio::test]
async fn a_thread_is_read_to_its_last_page(#[case] kind: ThreadKind, #[case] software: PagedForum, #[case] id: u64) {
    let site = start().await;
    let thread = site.thread(kind, id).unwrap();
    let (mut next, mut posts, mut pages) = (Some(site.address(&thread.path()).parse().unwrap()), Vec::new(), 0);
    while let Some(url) = next.take() {
        let page = page(url, None, software).await.unwrap();
        posts.extend(page.posts.into_iter().map(sorted));
        next = page.next;
        pages += 1;
    }
    assert_eq!(pages, thread.pages());
    assert_eq!(posts, thread.posts.iter().map(|post| self::expected(&site, post)).collect::<Vec<_>>());
}

#[rstest]
#[case(ThreadKind::Xenforo, PagedForum::Xenforo, 22)]
#[case(ThreadKind::Phpbb, PagedForum::Phpbb, 32)]
#[tokio::test]
async fn a_thread_without_posts_is_an_error(#[case] kind: ThreadKind, #[case] software: PagedForum, #[case] id: u64) {
    let site = start().await;
    let url = site.address(&site.thread(kind, id).unwrap().path()).parse().unwrap();
    assert_eq!(page(url, None, software).await, Err(ReadError::NoPosts));
}

#[tokio::test]
async fn a_challenge_and_a_log_in_are_refusals_without_posts() {
    let site = start().await;
    for id in [23, 24] {
        let url: Url = site.address(&site.thread(ThreadKind::Xenforo, id).unwrap().path()).parse().unwrap();
        let (status, _, html) = ask(url.clone(), None).await;
        let selectors = Selectors::of(PagedForum::Xenforo, &SelectorOverrides::default()).unwrap();
        let read = forum_page::read(&String::from_utf8(html).unwrap(), &url, &selectors);
        assert_eq!((status, read), (StatusCode::FORBIDDEN, Err(ReadError::NoPosts)));
    }
}

#[tokio::test]
async fn a_cookie_opens_a_thread() {
    let site = start().await;
    let thread = site.thread(ThreadKind::Xenforo, 24).unwrap();
    let secrets = secrets(&base(&site), &[("cookie", "xf_user=24,forum-cookie")]);
    let page = page(site.address(&thread.path()).parse().unwrap(), Some(secrets), PagedForum::Xenforo).await.unwrap();
    assert_eq!(page.posts.len(), thread.posts.len());
}
