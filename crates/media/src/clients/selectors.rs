//! `Selectors`: where a forum's pages have their posts, by CSS. XenForo and phpBB have usual ones, of
//! which a forum may override some.
//!
//! A part is `CSS` (the element's text), `CSS@ATTRIBUTE` (an attribute of the element) or `@ATTRIBUTE`
//! (an attribute of the post itself). It must not know a page.

use std::fmt::Display;

use scraper::{ElementRef, Selector};
use thiserror::Error;

use super::markup;
use super::paged_forum::PagedForum;
use domain::media::forum::SelectorOverrides;

/// Maximum characters of one override.
const MAX_CHARS: usize = 500;
/// Maximum number of places of media in a post.
const MAX_MEDIA: usize = 20;

#[derive(Debug)]
pub struct Selectors {
    pub post: Selector,
    pub post_id: Part,
    pub author: Part,
    pub time: Part,
    pub date_format: String,
    pub body: Part,
    pub next: Part,
    pub media: Vec<Part>,
}

/// An element below a post or a page, or one of its attributes.
#[derive(Debug)]
pub struct Part {
    element: Option<Selector>,
    attribute: Option<String>,
}

/// An override that cannot be read; `field` is its name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {fault}")]
pub struct BadSelector {
    pub field: &'static str,
    pub fault: String,
}

/// The first fault of overrides, of whatever software, for people.
pub fn fault(overrides: &SelectorOverrides) -> Option<String> {
    // any software would do: the usual selectors of each can be read
    Selectors::of(PagedForum::Xenforo, overrides).err().map(|bad| bad.to_string())
}

struct Usual {
    post: &'static str,
    post_id: &'static str,
    author: &'static str,
    time: &'static str,
    date_format: &'static str,
    body: &'static str,
    next: &'static str,
    media: &'static [&'static str],
}

const XENFORO: Usual = Usual {
    post: r#"article[data-content^="post-"]"#,
    post_id: "@data-content",
    author: "@data-author",
    time: "time[datetime]@datetime",
    date_format: "%Y-%m-%dT%H:%M:%S%z",
    body: ".message-body .bbWrapper",
    next: ".pageNav-jump--next@href",
    media: &[
        r#"[href*="/attachments/"]@href"#,
        ".bbImageWrapper[data-src]@data-src",
        "video[src]@src",
        "video source[src]@src",
        "iframe[src]@src",
    ],
};

const PHPBB: Usual = Usual {
    post: r#"div.post[id^="p"]"#,
    post_id: "@id",
    author: "p.author strong",
    time: "p.author",
    date_format: "%a %b %d, %Y %I:%M %p",
    body: "div.content",
    next: "li.next a@href, a.right-box@href",
    media: &["dl.attachbox a@href"],
};

impl Selectors {
    /// The usual selectors of this software, with the overrides.
    pub fn of(software: PagedForum, overrides: &SelectorOverrides) -> Result<Self, BadSelector> {
        let usual = match software {
            PagedForum::Xenforo => XENFORO,
            PagedForum::Phpbb => PHPBB,
        };
        let chosen = |own: &Option<String>, usual: &'static str| own.clone().unwrap_or_else(|| usual.to_owned());
        let part = |field, own: &Option<String>, usual| Part::read(field, &chosen(own, usual));
        let media: Vec<String> = match &overrides.media {
            Some(own) if own.len() > MAX_MEDIA => {
                return Err(bad("media", format!("{} places; {MAX_MEDIA} are allowed", own.len())));
            }
            Some(own) => own.clone(),
            None => usual.media.iter().map(|&place| place.to_owned()).collect(),
        };
        Ok(Selectors {
            post: selector("post", &chosen(&overrides.post, usual.post))?,
            post_id: part("post_id", &overrides.post_id, usual.post_id)?,
            author: part("author", &overrides.author, usual.author)?,
            time: part("time", &overrides.time, usual.time)?,
            date_format: date_format(chosen(&overrides.date_format, usual.date_format))?,
            body: part("body", &overrides.body, usual.body)?,
            next: part("next", &overrides.next, usual.next)?,
            media: media.iter().map(|place| Part::read("media", place)).collect::<Result<_, _>>()?,
        })
    }
}

impl Part {
    /// Several places may be given with commas, when all have the same attribute.
    pub(super) fn read(field: &'static str, text: &str) -> Result<Self, BadSelector> {
        let mut css: Vec<&str> = Vec::new();
        let mut attributes: Vec<&str> = Vec::new();
        for place in text.split(", ") {
            let (element, attribute) =
                place.rsplit_once('@').map_or((place, None), |(element, name)| (element, Some(name)));
            css.extend(Some(element.trim()).filter(|element| !element.is_empty()));
            attributes.extend(attribute);
        }
        attributes.dedup();
        let attribute = match attributes.as_slice() {
            [] => None,
            [one] if is_name(one) => Some((*one).to_owned()),
            [one] => return Err(bad(field, format!("{one:?} is not the name of an attribute"))),
            _ => return Err(bad(field, "selectors separated by commas need the same attribute")),
        };
        if css.is_empty() && attribute.is_none() {
            return Err(bad(field, "empty: leave it out to use the default"));
        }
        let element = if css.is_empty() { None } else { Some(selector(field, &css.join(", "))?) };
        Ok(Part { element, attribute })
    }

    /// The texts or attributes of the elements below `root`, or of `root` itself; empty ones are left out.
    pub fn values<'a>(&'a self, root: ElementRef<'a>) -> Vec<String> {
        let elements = self.elements(root);
        elements.into_iter().filter_map(|element| self.value(element)).filter(|value| !value.is_empty()).collect()
    }

    pub fn elements<'a>(&'a self, root: ElementRef<'a>) -> Vec<ElementRef<'a>> {
        self.element.as_ref().map_or_else(|| vec![root], |element| root.select(element).collect())
    }

    /// The text or attribute of one of its elements.
    pub fn value(&self, element: ElementRef<'_>) -> Option<String> {
        match &self.attribute {
            Some(name) => element.attr(name).map(|value| value.trim().to_owned()),
            None => Some(markup::text_of(element)),
        }
    }
}

fn selector(field: &'static str, css: &str) -> Result<Selector, BadSelector> {
    if css.chars().count() > MAX_CHARS {
        return Err(bad(field, format!("longer than {MAX_CHARS} characters")));
    }
    Selector::parse(css).map_err(|error| bad(field, error))
}

/// A format that chrono cannot write has an unknown letter.
fn date_format(format: String) -> Result<String, BadSelector> {
    let is_known = chrono::format::StrftimeItems::new(&format).all(|item| item != chrono::format::Item::Error);
    if is_known && !format.is_empty() {
        Ok(format)
    } else {
        Err(bad("date_format", format!("{format:?} is not a strftime format")))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn bad(field: &'static str, fault: impl Display) -> BadSelector {
    BadSelector { field, fault: fault.to_string() }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn with(overrides: Value) -> Result<Selectors, BadSelector> {
        Selectors::of(PagedForum::Phpbb, &serde_json::from_value(overrides).unwrap())
    }

    #[test]
    fn the_usual_selectors_can_be_read() {
        for software in [PagedForum::Xenforo, PagedForum::Phpbb] {
            assert_eq!(Selectors::of(software, &SelectorOverrides::default()).err(), None);
        }
    }

    #[rstest]
    #[case::css(json!({"post": "div["}), "post")]
    #[case::attribute(json!({"author": "p@on click"}), "author")]
    #[case::two_attributes(json!({"next": "a@href, link@rel"}), "next")]
    #[case::empty(json!({"body": ""}), "body")]
    #[case::format(json!({"date_format": "%Q %!"}), "date_format")]
    #[case::many(json!({"media": vec!["a@href"; 21]}), "media")]
    #[case::long(json!({"post": "a".repeat(501)}), "post")]
    fn a_wrong_override_is_refused_by_name(#[case] overrides: Value, #[case] field: &str) {
        assert_eq!(with(overrides).err().map(|bad| bad.field), Some(field));
    }
}
