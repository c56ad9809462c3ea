//! `Robots`: the rules of a robots.txt that concern us, after RFC 9309. Pure.
//!
//! In: the text of the file, then a path with its query. Out: the rule that forbids it. Lines that are not
//! rules are skipped, as the RFC asks: a page of HTML has no rules. Our own parser, because a report names
//! the rule, which the known crates do not give.

/// The rest of a longer file is not read; the RFC asks for no less.
pub const MAX_BYTES: usize = 500 * 1024;
/// The product token that a file may address us by. Where no group does, the groups for `*` apply.
const TOKEN: &str = "drover";
/// Maximum number of characters of a rule that are shown.
const MAX_SHOWN: usize = 200;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    is_allow: bool,
    /// Percent-encoded in one way; `*` and a final `$` have their meaning.
    pattern: String,
    /// Text of the rule in its file.
    shown: String,
}

/// How a group's user agents address us.
#[derive(Clone, Copy, Default, PartialEq)]
struct Addressee {
    is_us: bool,
    is_all: bool,
}

impl Robots {
    pub fn parse(text: &str) -> Robots {
        let (mut ours, mut of_all) = (Vec::new(), Vec::new());
        let mut has_own_group = false;
        let (mut group, mut is_open) = (Addressee::default(), false);
        for (key, value) in whole_lines(text).split(['\r', '\n']).filter_map(record) {
            if key.eq_ignore_ascii_case("user-agent") {
                // user agents behind a rule begin the next group
                group = if is_open { group } else { Addressee::default() }.and(value);
                (is_open, has_own_group) = (true, has_own_group || group.is_us);
                continue;
            }
            let Some(rule) = Rule::read(key, value) else { continue };
            is_open = false;
            let Some(rule) = rule else { continue };
            if group.is_us {
                ours.push(rule.clone());
            }
            if group.is_all {
                of_all.push(rule);
            }
        }
        Robots { rules: if has_own_group { ours } else { of_all } }
    }

    /// The rule that forbids `path` (with its query): the longest that matches, if no Allow of the same
    /// length does.
    pub fn forbids(&self, path: &str) -> Option<&Rule> {
        let path = encode(path).replace('*', "%2A").replace('$', "%24");
        if path == "/robots.txt" {
            return None;
        }
        let fitting = self.rules.iter().filter(|rule| fits(&rule.pattern, &path));
        let strongest = fitting.max_by_key(|rule| (rule.pattern.len(), rule.is_allow))?;
        (!strongest.is_allow).then_some(strongest)
    }

    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// How many rules concern us.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl Rule {
    /// None for another record; an empty rule closes the user agents before it and forbids nothing.
    fn read(key: &str, value: &str) -> Option<Option<Rule>> {
        let (is_allow, name) = match () {
            () if key.eq_ignore_ascii_case("allow") => (true, "Allow"),
            () if key.eq_ignore_ascii_case("disallow") => (false, "Disallow"),
            () => return None,
        };
        if value.is_empty() {
            return Some(None);
        }
        let shown = format!("{name}: {}", value.chars().take(MAX_SHOWN).collect::<String>());
        Some(Some(Rule { is_allow, pattern: encode(value), shown }))
    }

    /// Returns the text of the rule in its file.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

impl Addressee {
    fn and(self, user_agent: &str) -> Addressee {
        let is_token = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '-';
        let token = user_agent.split(|c| !is_token(c)).next().unwrap_or_default();
        Addressee {
            is_us: self.is_us || token.eq_ignore_ascii_case(TOKEN),
            is_all: self.is_all || user_agent.starts_with('*'),
        }
    }
}

/// Returns the text up to the bound, without the line that it cuts: the beginning of a path forbids more than the whole of
/// it.
fn whole_lines(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = &text[..text.floor_char_boundary(MAX_BYTES)];
    if read.len() == text.len() {
        return read;
    }
    &read[..read.rfind(['\r', '\n']).unwrap_or_default()]
}

fn record(line: &str) -> Option<(&str, &str)> {
    let line = line.split('#').next()?;
    let (key, value) = line.split_once(':')?;
    Some((key.trim(), value.trim()))
}

/// Whether `path` begins as `pattern` says; linear in both.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return !is_whole || rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    if is_whole { rest.ends_with(last) } else { rest.contains(last) }
}

/// One spelling of each octet: unreserved ones plain, other encoded ones in upper case, and all beyond ASCII
/// encoded.
fn encode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut encoded = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let octet = if byte == b'%' { bytes.get(at + 1..at + 3).and_then(hex) } else { None };
        at += if octet.is_some() { 3 } else { 1 };
        match (octet, byte) {
            (Some(octet), _) if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) => {
                encoded.push(char::from(octet));
            }
            (Some(octet), _) => push_encoded(&mut encoded, octet),
            (None, byte) if byte.is_ascii_graphic() => encoded.push(char::from(byte)),
            (None, byte) => push_encoded(&mut encoded, byte),
        }
    }
    encoded
}

fn push_encoded(text: &mut String, octet: u8) {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    text.extend(['%', DIGITS[usize::from(octet >> 4)], DIGITS[usize::from(octet & 15)]]);
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    let [high, low] = digits else { return None };
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn rule(text: &str, path: &str) -> Option<String> {
        Robots::parse(text).forbids(path).map(|rule| rule.shown().to_owned())
    }

    fn of_all(rules: &str) -> String {
        format!("User-agent: *\n{rules}")
    }

    #[rstest]
    #[case::the_beginning("Disallow: /api", "/api-3/graphql?x=1", Some("Disallow: /api"))]
    #[case::another_path("Disallow: /api", "/menu", None)]
    #[case::nothing("Disallow:", "/menu", None)]
    #[case::everything("Disallow: /", "/menu", Some("Disallow: /"))]
    #[case::the_file_itself("Disallow: /", "/robots.txt", None)]
    #[case::the_longest_rule("Allow: /api\nDisallow: /api/private", "/api/private/x", Some("Disallow: /api/private"))]
    #[case::a_longer_allow("Disallow: /\nAllow: /api", "/api", None)]
    #[case::a_tie_allows("Disallow: /api\nAllow: /api", "/api", None)]
    #[case::case_matters("Disallow: /API", "/api", None)]
    #[case::any_characters("Disallow: /*/private", "/a/b/private", Some("Disallow: /*/private"))]
    #[case::the_end("Disallow: /*.json$", "/a.json", Some("Disallow: /*.json$"))]
    #[case::not_the_end("Disallow: /*.json$", "/a.json?x", None)]
    #[case::the_end_twice("Disallow: /*ab$", "/abxab", Some("Disallow: /*ab$"))]
    #[case::the_whole("Disallow: /a$", "/a", Some("Disallow: /a$"))]
    #[case::more_than_the_whole("Disallow: /a$", "/ab", None)]
    #[case::parts_in_their_order("Disallow: /*b*a", "/ab", None)]
    #[case::a_part_is_used_once("Disallow: /*aba*ba$", "/aba", None)]
    #[case::the_query("Disallow: /*?operationName=", "/graphql?operationName=x", Some("Disallow: /*?operationName="))]
    #[case::encoded_or_not("Disallow: /foo/bar/%E3%83%84", "/foo/bar/\u{30c4}", Some("Disallow: /foo/bar/%E3%83%84"))]
    #[case::encoded_in_lower_case("Disallow: /%e3%83%84", "/%E3%83%84", Some("Disallow: /%e3%83%84"))]
    #[case::encoded_without_need("Disallow: /b%61z", "/baz", Some("Disallow: /b%61z"))]
    #[case::another_letter("Disallow: /caf\u{e9}", "/caf\u{e8}", None)]
    #[case::a_slash_that_is_none("Disallow: /a%2Fb", "/a/b", None)]
    #[case::a_star_that_is_one("Disallow: /a%2Ab", "/axb", None)]
    #[case::a_dollar_in_the_path("Disallow: /a%24", "/a$", Some("Disallow: /a%24"))]
    #[case::comments("Disallow: /api # but not the rest", "/api", Some("Disallow: /api"))]
    #[case::any_case("DISALLOW : /api", "/api", Some("Disallow: /api"))]
    #[case::other_records("Crawl-delay: 5\nSitemap: https://x/y\nDisallow: /api", "/api", Some("Disallow: /api"))]
    fn a_rule_forbids_what_it_fits(#[case] rules: &str, #[case] path: &str, #[case] expected: Option<&str>) {
        assert_eq!(rule(&of_all(rules), path).as_deref(), expected);
    }

    #[rstest]
    #[case::ours_alone("User-agent: *\nDisallow: /\nUser-agent: Drover\nDisallow: /a", "/b", None)]
    #[case::by_name_and_version("User-agent: drover/1.0\nDisallow: /a", "/a", Some("Disallow: /a"))]
    #[case::a_longer_name("User-agent: drover-bot\nDisallow: /", "/a", None)]
    #[case::ours_forbids_nothing("User-agent: *\nDisallow: /\nUser-agent: drover\nDisallow:", "/a", None)]
    #[case::groups_of_one_name(
        "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: *\nDisallow: /b",
        "/b",
        Some("Disallow: /b")
    )]
    #[case::several_names("User-agent: x\nUser-agent: *\nDisallow: /a", "/a", Some("Disallow: /a"))]
    #[case::a_record_between_names(
        "User-agent: *\nSitemap: /s\nUser-agent: x\nDisallow: /a",
        "/a",
        Some("Disallow: /a")
    )]
    #[case::no_name("Disallow: /", "/a", None)]
    #[case::a_mark_at_the_beginning("\u{feff}User-agent: *\nDisallow: /a", "/a", Some("Disallow: /a"))]
    #[case::lines_of_another_system("User-agent: *\r\nDisallow: /a\r\n", "/a", Some("Disallow: /a"))]
    #[case::a_page("<!DOCTYPE html><html><head><title>Menu: all</title></head></html>", "/a", None)]
    fn the_group_for_us_holds(#[case] text: &str, #[case] path: &str, #[case] expected: Option<&str>) {
        assert_eq!(rule(text, path).as_deref(), expected);
    }

    #[test]
    fn what_is_beyond_the_bound_is_not_read_nor_the_line_that_it_cuts() {
        let begin = of_all("Disallow: /first\n");
        let comment = format!("#{}\n", "x".repeat(MAX_BYTES - begin.len() - 13));
        let text = format!("{begin}{comment}Disallow: /second\nDisallow: /third");
        let robots = Robots::parse(&text);
        assert_eq!(text.as_bytes()[MAX_BYTES - 1], b'/', "the bound cuts the second rule to one for everything");
        assert!(robots.forbids("/first").is_some() && robots.forbids("/third").is_none() && robots.len() == 1);
    }

    #[test]
    fn a_file_of_500_kibibytes_is_read_to_its_end() {
        let begin = of_all("#");
        let rule = "\nDisallow: /last";
        let robots = Robots::parse(&format!("{begin}{}{rule}", "x".repeat(512_000 - begin.len() - rule.len())));
        assert!(robots.forbids("/last").is_some());
    }

    #[test]
    fn the_rules_that_concern_us_are_listed_and_counted() {
        let robots = Robots::parse(&of_all("Disallow: /a\nAllow: /a/b\nUser-agent: other\nDisallow: /"));
        assert_eq!(robots.rules().map(Rule::shown).collect::<Vec<_>>(), ["Disallow: /a", "Allow: /a/b"]);
        assert_eq!((robots.len(), robots.is_empty()), (2, false));
        assert!(Robots::parse("").is_empty());
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let robots = Robots::parse(&of_all(&format!("Disallow: /{}b$", "*a".repeat(200_000))));
        let begun = std::time::Instant::now();
        assert!(robots.forbids(&format!("/{}", "a".repeat(100_000))).is_none());
        // a pattern that is tried at every place takes minutes
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    /// The meaning of a pattern, tried at every place.
    fn fits_slowly(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            [b'$'] => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|at| fits_slowly(rest, &path[at..])),
            [byte, rest @ ..] => path.first() == Some(byte) && fits_slowly(rest, &path[1..]),
        }
    }

    proptest! {
        #[test]
        fn a_pattern_means_what_it_says(pattern in "/[ab*]{0,8}[$]?", path in "/[ab]{0,10}") {
            prop_assert_eq!(fits(&pattern, &path), fits_slowly(pattern.as_bytes(), path.as_bytes()));
        }

        #[test]
        fn no_text_panics(text in "(?s)(user-agent:.{0,9}\n|disallow:.{0,20}\n|.{0,20}){0,12}", path in ".{0,20}") {
            let _ = Robots::parse(&text).forbids(&path);
        }

        #[test]
        fn an_encoded_text_is_encoded_no_further(text in ".{0,30}") {
            let once = encode(&text);
            prop_assert_eq!(encode(&once), once);
        }
    }
}
