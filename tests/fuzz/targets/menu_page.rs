//! Any bytes as the page of a menu: a key of 32 hex digits or none, never a panic.

use drover::platforms::jane::page;

const APPLICATION: &str = "VFM4X0N23A";

pub const WORDS: &[&str] = &[
    "algoliaApiKey",
    "algoliaAppId",
    "VFM4X0N23A",
    "00112233445566778899aabbccddeeff",
    "jane-app-settings",
    "<script",
    "</script>",
    ">",
    "\":\"",
    "\\\"",
    "&quot;",
    "&#34;",
    "=",
    "\u{e9}",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        r#"<html><script>{"algoliaAppId":"VFM4X0N23A","algoliaApiKey":"00112233445566778899aabbccddeeff"}</script></html>"#,
        r#"<script id="jane-app-settings">{"algoliaApiKey":"00112233445566778899aabbccddeeff"}</script>"#,
        "<div data-a=\"{&quot;algoliaAppId&quot;:&quot;AAAA&quot;,&quot;algoliaApiKey&quot;:&quot;00112233445566778899aabbccddeeff&quot;}\">",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(source: &[u8]) -> u64 {
    let Some(key) = page::key(source, APPLICATION) else { return 0 };
    assert!(key.reveal().len() == 32 && key.reveal().bytes().all(|digit| digit.is_ascii_hexdigit()));
    1
}
