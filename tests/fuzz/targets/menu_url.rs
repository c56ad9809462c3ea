//! Any text as a menu's address: an accepted address has a plain name, and reads the same again.

use drover::platforms::dutchie::menu_url::MenuUrl;

pub const WORDS: &[&str] = &[
    "https://",
    "http://",
    "//",
    "dispensary/",
    "embedded-menu/",
    "stores/",
    ".js",
    "?",
    "#",
    "/../",
    "%2f",
    "%00",
    "@",
    ":",
    "[::1]",
    "\\",
    "xn--",
    "é",
    " ",
    "\t",
    "javascript:",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "https://dutchie.com/embedded-menu/deeply-rooted",
        "https://www.dutchie.com/dispensary/deeply-rooted/products/flower?utm=1#menu",
        "https://dutchie.com/embedded-menu/6405ef617056e8014d79101b.js",
        "shop.deeplyrooted.example:8443/stores/deeply-rooted//",
        "  http://user:word@127.0.0.1:8080/stores/a1 ",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(text: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(text);
    let Some(menu) = MenuUrl::parse(&text) else { return 0 };
    let name = &menu.name_or_id;
    assert!(!name.is_empty() && name.len() <= 200 && !name.contains(['/', '?', '#', '%', ' ', ':', '@']), "{name}");
    assert!(matches!(menu.url.scheme(), "http" | "https") && menu.url.has_host(), "{}", menu.url);
    assert_eq!(MenuUrl::parse(menu.url.as_str()).as_ref(), Some(&menu), "it is read otherwise the second time");
    1 + name.len() as u64 + 256 * u64::from(menu.url.query().is_some()) + 512 * u64::from(menu.url.port().is_some())
}
