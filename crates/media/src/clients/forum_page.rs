//! A page of a thread of XenForo or phpBB: its posts, and the address of the next page.

use std::collections::HashSet;

use chrono::{DateTime, Datelike, NaiveDateTime, Utc};
use scraper::{ElementRef, Html};
use url::Url;

use super::media_links::{links, web_address};
use super::selectors::Selectors;
use super::{MAX_ID, MAX_TEXT, Odd, ReadError, Readable, bounded, is_usual, markup, name};
use domain::media::forum::ForumPost;

/// Maximum number of elements of the body of a post.
const MAX_BODIES: usize = 100;
/// Maximum number of digits of a post's id.
const MAX_DIGITS: usize = 18;
/// Maximum number of posts of a page; forums show up to a hundred.
const MAX_POSTS: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForumPage {
    /// Posts in the order of the page.
    pub posts: Vec<ForumPost>,
    /// Elements among the posts that are not posts, such as an advertisement.
    pub odd: Odd,
    /// Next page, on the same site; the caller stops where it comes to a page again.
    pub next: Option<Url>,
}

/// `address`: of the page, for its relative links. Links that are not of the web are left out.
pub fn read(html: &str, address: &Url, selectors: &Selectors) -> Result<ForumPage, ReadError> {
    markup::check(html)?;
    let document = Html::parse_document(html);
    let root = document.root_element();
    let base = base_of(root, address);
    let elements: Vec<ElementRef<'_>> = root.select(&selectors.post).take(MAX_POSTS + 1).collect();
    if elements.len() > MAX_POSTS {
        return Err(ReadError::strange("post", format!("fits more than {MAX_POSTS} elements")));
    }
    let outer = elements.into_iter().filter(|element| !is_inside_of_a_post(*element, selectors));
    let Readable { elements: posts, odd } =
        Readable::of(outer, |element, _| post(element, &base, selectors).map(Some))?;
    if posts.is_empty() {
        return Err(ReadError::NoPosts);
    }
    let next = selectors.next.values(root).first().and_then(|link| web_address(&base, link));
    let next = next.filter(|next| next != address && next.origin() == address.origin());
    Ok(ForumPage { posts, odd, next })
}

fn is_inside_of_a_post(element: ElementRef<'_>, selectors: &Selectors) -> bool {
    element.ancestors().filter_map(ElementRef::wrap).any(|outer| selectors.post.matches(&outer))
}

/// Its id is the forum's own, without the prefix: the digits of `post-123` or `p123`.
fn post(element: ElementRef<'_>, base: &Url, selectors: &Selectors) -> Result<ForumPost, ReadError> {
    let id = selectors.post_id.values(element).into_iter().next().unwrap_or_default();
    let digits = id.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    if !(1..=MAX_DIGITS).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let id = bounded(&id, MAX_ID);
        return Err(ReadError::strange("post_id", format!("{id:?} has no number")));
    }
    let author = selectors.author.values(element).into_iter().next().unwrap_or_default();
    Ok(ForumPost {
        external_id: digits.to_owned(),
        number: None,
        posted_at: posted_at(element, &author, selectors),
        author: name(&author),
        text: text(element, selectors),
        media: links(element, base, &selectors.media),
    })
}

/// The text of its body. A body inside of another is a part of that one.
fn text(element: ElementRef<'_>, selectors: &Selectors) -> String {
    let mut bodies = selectors.body.elements(element);
    bodies.truncate(MAX_BODIES);
    let ids: HashSet<_> = bodies.iter().map(|body| body.id()).collect();
    let outer = bodies.iter().filter(|body| !body.ancestors().any(|around| ids.contains(&around.id())));
    let texts: Vec<String> = outer.map(|body| markup::text_of(*body)).collect();
    bounded(&texts.join("\n"), MAX_TEXT)
}

/// The time of a post. An element `time` says it for programs; else it is the text without the author's
/// name, after the last separator.
fn posted_at(element: ElementRef<'_>, author: &str, selectors: &Selectors) -> Option<DateTime<Utc>> {
    let places = selectors.time.elements(element);
    let of_programs = places.iter().find_map(|place| time_element(*place)?.attr("datetime").map(str::to_owned));
    if let Some(time) = of_programs.and_then(|text| read_time(&text, selectors)) {
        return Some(time);
    }
    let text = selectors.time.values(element).into_iter().next()?;
    let text = match text.rsplit_once('»') {
        Some((_, time)) => time.to_owned(),
        None => text.replacen(author, "", 1),
    };
    read_time(text.trim(), selectors)
}

fn time_element(place: ElementRef<'_>) -> Option<ElementRef<'_>> {
    place.descendent_elements().find(|element| element.value().name() == "time")
}

fn read_time(text: &str, selectors: &Selectors) -> Option<DateTime<Utc>> {
    let with_zone = || DateTime::parse_from_str(text, &selectors.date_format).ok().map(|time| time.to_utc());
    let without_zone = || NaiveDateTime::parse_from_str(text, &selectors.date_format).ok().map(|time| time.and_utc());
    let time: Option<DateTime<Utc>> = text.parse().ok().or_else(with_zone).or_else(without_zone);
    time.filter(|time| is_usual(time.year()))
}

/// A page may say from where its relative links begin.
fn base_of(root: ElementRef<'_>, address: &Url) -> Url {
    let base = root.descendent_elements().find(|element| element.value().name() == "base");
    base.and_then(|base| web_address(address, base.attr("href")?)).unwrap_or_else(|| address.clone())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::paged_forum::PagedForum;
    use super::*;
    use domain::media::forum::SelectorOverrides;
    use domain::media::item::ItemKind;

    const XENFORO: &str = r#"<html><body>
      <article class="message" data-author="ann" data-content="post-101" id="js-post-101">
        <time datetime="2026-11-01T10:00:00+0200" data-time="1">Yesterday</time>
        <div class="message-body"><div class="bbWrapper">Salt <b>&amp;</b> pepper
          <div class="bbImageWrapper" data-src="https://cdn.example/a.jpg"></div>
          <iframe src="//player.example/v/1"></iframe>
          <a href="javascript:alert(1)">x</a></div></div>
        <a href="/attachments/b-jpg.5/">b.jpg</a><a href="/attachments/b-jpg.5/">again</a>
      </article>
      <article data-author="bob" data-content="post-102"><div class="message-body"><div class="bbWrapper">Yes</div></div></article>
      <a class="pageNav-jump pageNav-jump--next" href="/threads/t.1/page-3">Next</a></body></html>"#;

    const PHPBB: &str = r#"<html><body>
      <div id="p55" class="post has-profile"><p class="author">by <strong><a>carol</a></strong> » Mon Nov 02, 2026 3:04 pm</p>
        <div class="content">Hello<br>there</div>
        <dl class="attachbox"><dd><a href="./download/file.php?id=9">c.jpg</a></dd></dl></div>
      <ul><li class="arrow next"><a href="./viewtopic.php?t=1&amp;start=10">Next</a></li></ul></body></html>"#;

    fn page(software: PagedForum, html: &str) -> Result<ForumPage, ReadError> {
        let address = "https://forum.example/threads/t.1/page-2".parse().unwrap();
        read(html, &address, &Selectors::of(software, &SelectorOverrides::default()).unwrap())
    }

    #[test]
    fn a_page_of_xenforo_has_posts_media_and_a_next_page() {
        let page = page(PagedForum::Xenforo, XENFORO).unwrap();
        assert_eq!(page.next.unwrap().as_str(), "https://forum.example/threads/t.1/page-3");
        let [ann, bob] = page.posts.as_slice() else { panic!("{:?}", page.posts) };
        assert_eq!((ann.external_id.as_str(), ann.author.as_str()), ("101", "ann"));
        assert_eq!(ann.posted_at.unwrap().to_rfc3339(), "2026-11-01T08:00:00+00:00");
        assert!(ann.text.starts_with("Salt & pepper"), "{}", ann.text);
        let media: Vec<(&str, ItemKind)> = ann.media.iter().map(|link| (link.url.as_str(), link.kind)).collect();
        assert_eq!(
            media,
            [
                ("https://forum.example/attachments/b-jpg.5/", ItemKind::File),
                ("https://cdn.example/a.jpg", ItemKind::File),
                ("https://player.example/v/1", ItemKind::Page)
            ]
        );
        assert_eq!((bob.external_id.as_str(), bob.text.as_str(), bob.posted_at), ("102", "Yes", None));
    }

    #[test]
    fn a_page_of_phpbb_has_the_time_beside_the_author() {
        let page = page(PagedForum::Phpbb, PHPBB).unwrap();
        assert_eq!(page.next.unwrap().as_str(), "https://forum.example/threads/t.1/viewtopic.php?t=1&start=10");
        let post = &page.posts[0];
        assert_eq!(
            (post.external_id.as_str(), post.author.as_str(), post.text.as_str()),
            ("55", "carol", "Hello\nthere")
        );
        assert_eq!(post.posted_at.unwrap().to_rfc3339(), "2026-11-02T15:04:00+00:00");
        assert_eq!(post.media[0].url.as_str(), "https://forum.example/threads/t.1/download/file.php?id=9");
    }

    #[rstest]
    #[case::a_log_in(r#"<form action="/login"></form>"#, ReadError::NoPosts)]
    #[case::empty("", ReadError::NoPosts)]
    #[case::no_number(
        r#"<article data-content="post-x"></article>"#,
        ReadError::strange("post_id", r#""post-x" has no number"#)
    )]
    fn another_page_is_an_error(#[case] html: &str, #[case] error: ReadError) {
        assert_eq!(page(PagedForum::Xenforo, html), Err(error));
    }

    #[rstest]
    #[case::no_number(r#"<article data-content="post-x">x</article>"#)]
    #[case::a_huge_number(r#"<article data-content="post-9999999999999999999">x</article>"#)]
    #[case::letters_behind(r#"<article data-content="post-9x">x</article>"#)]
    fn what_is_no_post_costs_none_of_the_others(#[case] odd: &str) {
        let html = XENFORO.replace("<article data-author", &format!("{odd}<article data-author"));
        let page = page(PagedForum::Xenforo, &html).unwrap();
        assert_eq!((page.posts.len(), page.odd.count), (2, 1));
        assert!(page.odd.names[0].contains("has no number"), "{:?}", page.odd.names);
        assert!(page.next.is_some());
    }

    #[rstest]
    #[case::an_advertisement(r#"<li class="reply">Buy</li>"#)]
    #[case::an_empty_name(r#"<li class="reply" data-n="">Buy</li>"#)]
    #[case::a_name_without_digits(r#"<li class="reply" data-n="poll">Buy</li>"#)]
    fn what_is_no_post_of_another_skin_costs_none_of_the_others(#[case] odd: &str) {
        let overrides = serde_json::json!({"post": "li.reply", "post_id": "@data-n", "body": "p"});
        let selectors = Selectors::of(PagedForum::Phpbb, &serde_json::from_value(overrides).unwrap()).unwrap();
        let html = format!(r#"<ol>{odd}<li class="reply" data-n="7"><p>Ho</p></li></ol>"#);
        let page = read(&html, &"https://f.example/".parse().unwrap(), &selectors).unwrap();
        assert_eq!((page.posts.len(), page.odd.count), (1, 1));
    }

    #[test]
    fn a_body_inside_of_another_is_read_once() {
        let html = XENFORO.replace("Yes", r#"Yes <div class="bbWrapper">quoted</div>"#);
        assert_eq!(page(PagedForum::Xenforo, &html).unwrap().posts[1].text, "Yes\nquoted");
    }

    #[rstest]
    #[case::itself("/threads/t.1/page-2")]
    #[case::another_site("https://other.example/threads/t.1/page-3")]
    fn a_page_that_leads_nowhere_is_the_last(#[case] next: &str) {
        let html = XENFORO.replace("/threads/t.1/page-3", next);
        assert_eq!(page(PagedForum::Xenforo, &html).unwrap().next, None);
    }

    #[test]
    fn an_author_named_by_a_digit_leaves_the_time_whole() {
        let html = PHPBB.replace("carol", "2");
        let page = page(PagedForum::Phpbb, &html).unwrap();
        assert_eq!(page.posts[0].posted_at.unwrap().to_rfc3339(), "2026-11-02T15:04:00+00:00");
    }

    #[test]
    fn a_post_inside_of_a_post_is_a_part_of_it() {
        let inner = r#"<article data-content="post-9"></article>"#;
        let html = XENFORO.replace("Salt", &format!("{inner}Salt"));
        assert_eq!(page(PagedForum::Xenforo, &html).unwrap().posts.len(), 2);
        let many = r#"<article data-content="post-1">"#.repeat(501);
        assert!(page(PagedForum::Xenforo, &many).unwrap_err().to_string().contains("more than 500"));
    }

    #[test]
    fn overrides_read_another_skin() {
        let overrides = serde_json::json!({"post": "li.reply", "post_id": "@data-n", "author": "b.who", "time": "i.when", "date_format": "%d.%m.%Y %H:%M", "body": "p"});
        let selectors = Selectors::of(PagedForum::Phpbb, &serde_json::from_value(overrides).unwrap()).unwrap();
        let html = r#"<ol><li class="reply" data-n="7"><b class="who">dan</b><i class="when">24.12.2026 18:00</i><p>Ho</p></li></ol>"#;
        let page = read(html, &"https://f.example/".parse().unwrap(), &selectors).unwrap();
        let post = &page.posts[0];
        assert_eq!((post.external_id.as_str(), post.author.as_str(), post.text.as_str()), ("7", "dan", "Ho"));
        assert_eq!(post.posted_at.unwrap().to_rfc3339(), "2026-12-24T18:00:00+00:00");
    }
}
