//! Any text as a robots.txt: whatever it says, rules are found in one reading, each is shown as a line, and
//! the file itself is allowed.

use domain::http::robots::Robots;

pub const WORDS: &[&str] = &[
    "User-agent: *\n",
    "User-agent: drover\n",
    "User-agent: other\n",
    "user-agent:drover/1.0",
    "Disallow: /",
    "Disallow:",
    "Allow: /",
    "Sitemap: https://menu.test/s.xml",
    "Crawl-delay: 10",
    "\n",
    "\r",
    "\r\n",
    ":",
    "#",
    "*",
    "$",
    "**$",
    "%",
    "%2f",
    "%zz",
    "%E2%82%AC",
    "/api-3/graphql?operationName=FilteredProducts",
    "?",
    " ",
    "\t",
    "\0",
    "\u{feff}",
    "é",
    "<html>",
];

const PATHS: [&str; 4] = ["/", "/robots.txt", "/api-3/graphql?operationName=FilteredProducts&x=%2a", "/a*b$é%zz"];

pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "User-agent: *\nDisallow: /api\nAllow: /api-3\n\nUser-agent: drover\nDisallow: /private*.html$\n",
        "\u{feff}User-agent: a\r\nUser-agent: *\r\nDisallow: /%7ejoe/*?x=  # a comment\r\nSitemap: /s\r\n",
        "<!DOCTYPE html><html><body>Disallow: /</body></html>",
        "User-agent: *\nDisallow: /",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let robots = Robots::parse(&text);
    for rule in robots.rules() {
        let shown = rule.shown();
        assert!(shown.starts_with("Allow: ") || shown.starts_with("Disallow: "), "{shown}");
        assert!(shown.chars().count() <= 220 && !shown.contains(['\n', '\r', '#']), "{shown}");
    }
    assert_eq!(robots.len(), robots.rules().count());
    assert!(robots.forbids("/robots.txt").is_none());
    let forbidden = PATHS.map(|path| robots.forbids(path));
    for rule in forbidden.iter().flatten() {
        assert!(rule.shown().starts_with("Disallow: "), "{}", rule.shown());
    }
    // a file means the same by whatever line ends
    assert_eq!(Robots::parse(&text.replace('\n', "\r\n")), robots);
    let forbidden = forbidden.iter().fold(0, |sum, rule| sum * 2 + u64::from(rule.is_some()));
    forbidden * 100 + robots.len().min(99) as u64
}
