//! HTML of strangers: whether its parser can take it, and the text that it shows.
//!
//! At each tag the parser looks through the elements that are open, so a deep page takes it hours. It also repeats
//! each formatting element that was left open in each paragraph after it, so a page of a megabyte may become a tree
//! of gigabytes. Such pages are refused before they are parsed.

use std::collections::HashMap;

use scraper::ElementRef;
use scraper::node::Node;

use super::ReadError;

/// Maximum bytes of a page.
pub const MAX_PAGE: usize = 8 << 20;
/// Maximum number of formatting elements that are open at one place; people open a few.
const MAX_OPEN: usize = 200;
/// Maximum number of nested elements: the parser looks through them at each tag.
const MAX_DEPTH: usize = 1_000;
/// Maximum number of drawing elements that close themselves.
const MAX_DRAWN: usize = 5_000;
/// Elements without an end, and those that end where the next one begins.
const NEVER_DEEP: [&str; 29] = [
    "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "optgroup", "option", "p", "param", "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track",
    "wbr",
];
/// Elements of drawings that close themselves: `<path/>`.
const DRAWN: [&str; 9] = ["circle", "ellipse", "line", "path", "polygon", "polyline", "rect", "stop", "use"];
/// Elements that the parser opens again, by the rules of HTML.
const FORMATTING: [&str; 14] =
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Elements that begin a line of their own.
const BLOCKS: [&str; 16] =
    ["article", "blockquote", "br", "dd", "div", "dt", "h1", "h2", "h3", "hr", "li", "ol", "p", "pre", "tr", "ul"];

/// Refuses a page whose tree could be far larger than it is, or so deep that its parser would not end in time.
pub fn check(html: &str) -> Result<(), ReadError> {
    if html.len() > MAX_PAGE {
        return Err(ReadError::strange("the page", format!("is larger than {MAX_PAGE} bytes")));
    }
    let mut open = OpenElements::default();
    html.split('<').skip(1).try_for_each(|tag| open.take(tag))
}

/// Elements that are open at a place, as the parser sees them at most.
#[derive(Default)]
struct OpenElements {
    by_name: HashMap<String, usize>,
    depth: usize,
    formatting: usize,
    /// Drawings have such elements; elsewhere the parser leaves them open.
    closing_themselves: usize,
}

impl OpenElements {
    /// `tag` is a text after `<`.
    fn take(&mut self, tag: &str) -> Result<(), ReadError> {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let end = tag.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(tag.len());
        let name = tag[..end].to_ascii_lowercase();
        if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) || NEVER_DEEP.contains(&name.as_str()) {
            return Ok(());
        }
        let is_formatting = FORMATTING.contains(&name.as_str());
        if !is_end && DRAWN.contains(&name.as_str()) && tag.split('>').next().is_some_and(|tag| tag.ends_with('/')) {
            self.closing_themselves += 1;
            return self.check();
        }
        let open = self.by_name.entry(name).or_default();
        match is_end {
            // the parser ignores an end without a beginning
            true if *open == 0 => return Ok(()),
            true => {
                (*open, self.depth) = (*open - 1, self.depth - 1);
                self.formatting -= usize::from(is_formatting);
            }
            false => {
                (*open, self.depth) = (*open + 1, self.depth + 1);
                self.formatting += usize::from(is_formatting);
            }
        }
        self.check()
    }

    fn check(&self) -> Result<(), ReadError> {
        let fault = match self {
            open if open.formatting > MAX_OPEN => format!("leaves more than {MAX_OPEN} formatting elements open"),
            open if open.depth > MAX_DEPTH => format!("has more than {MAX_DEPTH} nested elements"),
            open if open.closing_themselves > MAX_DRAWN => format!("has more than {MAX_DRAWN} drawing elements"),
            _ => return Ok(()),
        };
        Err(ReadError::strange("the page", fault))
    }
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
    #[case::ended_by_others("<b x=1></i>".repeat(201), false)]
    #[case::other_elements("<div><p><li>x</div>".repeat(10_000), true)]
    #[case::deep("<div>".repeat(1_001), false)]
    #[case::deep_behind_other_ends("<div></span>".repeat(1_001), false)]
    #[case::a_drawing(format!("<svg>{}</svg>", "<path d=''/>".repeat(2_000)), true)]
    #[case::no_drawing("<path/>".repeat(5_001), false)]
    #[case::a_heart("<3 ".repeat(10_000), true)]
    #[case::too_large("x".repeat(MAX_PAGE + 1), false)]
    fn a_page_that_would_grow_is_refused(#[case] html: String, #[case] is_taken: bool) {
        assert_eq!(check(&html).is_ok(), is_taken);
    }
}
