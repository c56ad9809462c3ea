//! HTML of strangers: whether its parser can take it, and the text that it shows.
//!
//! The parser repeats each formatting element that was left open in each paragraph after it, so a page of a
//! megabyte may become a tree of gigabytes. Such a page is refused before it is parsed.

use scraper::ElementRef;
use scraper::node::Node;

use super::ReadError;

/// Maximum bytes of a page.
pub const MAX_PAGE: usize = 8 << 20;
/// Maximum number of formatting elements that are open at one place; people open a few.
const MAX_OPEN: usize = 200;
/// Elements that the parser opens again, by the rules of HTML.
const FORMATTING: [&str; 14] =
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Elements that begin a line of their own.
const BLOCKS: [&str; 16] =
    ["article", "blockquote", "br", "dd", "div", "dt", "h1", "h2", "h3", "hr", "li", "ol", "p", "pre", "tr", "ul"];

/// Refuses a page whose tree could be far larger than it is.
pub fn check(html: &str) -> Result<(), ReadError> {
    if html.len() > MAX_PAGE {
        return Err(ReadError::strange("the page", format!("is larger than {MAX_PAGE} bytes")));
    }
    let mut open = 0_usize;
    for tag in html.split('<').skip(1) {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let end = tag.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(tag.len());
        if !FORMATTING.iter().any(|name| name.eq_ignore_ascii_case(&tag[..end])) {
            continue;
        }
        open = if is_end { open.saturating_sub(1) } else { open + 1 };
        if open > MAX_OPEN {
            return Err(ReadError::strange(
                "the page",
                format!("leaves more than {MAX_OPEN} formatting elements open"),
            ));
        }
    }
    Ok(())
}

/// The text of an element, each block in a line of its own.
pub fn text_of(element: ElementRef<'_>) -> String {
    let mut text = String::new();
    for node in element.descendants() {
        match node.value() {
            Node::Text(part) => text.push_str(part),
            Node::Element(inner) if BLOCKS.contains(&inner.name()) && !text.is_empty() => text.push('\n'),
            _ => {}
        }
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use scraper::Html;

    use super::*;

    #[test]
    fn blocks_and_breaks_begin_lines() {
        let html = Html::parse_fragment("<p>Salt <b>&amp;</b> pepper</p>\n<div>Hello<br>there</div>");
        assert_eq!(text_of(html.root_element()), "Salt & pepper\nHello\nthere");
    }

    #[rstest]
    #[case::ordinary("<p><b>x</b></p>".repeat(10_000), true)]
    #[case::left_open("<b a=1>".repeat(201), false)]
    #[case::left_open_in_capitals("<FONT>".repeat(201), false)]
    #[case::other_elements("<div>".repeat(10_000), true)]
    #[case::too_large("x".repeat(MAX_PAGE + 1), false)]
    fn a_page_that_would_grow_is_refused(#[case] html: String, #[case] is_taken: bool) {
        assert_eq!(check(&html).is_ok(), is_taken);
    }
}
