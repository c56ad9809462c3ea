//! The key of the search in the source of a menu's page: in the page's settings beside the id of the application, or in the
//! script with the settings of an embedded menu.
//!
//! In: the source of a page, of whatever form. Out: the key. It must not know sessions.

use settings::Secret;

const KEY: &str = "algoliaApiKey";
const APPLICATION: &str = "algoliaAppId";
/// Name of the script in which other sites have the settings of a menu.
const SETTINGS: &str = "jane-app-settings";
const KEY_DIGITS: usize = 32;
/// Maximum number of bytes between the names of settings that belong together.
const MAX_DISTANCE: usize = 2000;
/// Quotes as attributes of a page have them.
const QUOTES: [&str; 3] = ["&quot;", "&#34;", "&#39;"];

/// The key of this application; none where the page shows none, or that of another application alone.
pub fn key(page: &[u8], application_id: &str) -> Option<Secret> {
    let page = String::from_utf8_lossy(page);
    let mut places = page.match_indices(KEY).map(|(at, _)| at);
    places.find_map(|at| {
        let key = value(page.get(at + KEY.len()..)?);
        let is_key = key.len() == KEY_DIGITS && key.bytes().all(|digit| digit.is_ascii_hexdigit());
        (is_key && is_of(&page, at, application_id)).then(|| Secret::from(key))
    })
}

/// Whether the settings at this place are of the application.
fn is_of(page: &str, at: usize, application_id: &str) -> bool {
    let start = page.floor_char_boundary(at.saturating_sub(MAX_DISTANCE));
    let end = page.floor_char_boundary(at.saturating_add(MAX_DISTANCE));
    let around = page.get(start..end).unwrap_or_default();
    let mut applications = around.match_indices(APPLICATION).peekable();
    match applications.peek() {
        None => is_in_settings(page.get(..at).unwrap_or_default()),
        Some(_) => applications.any(|(at, name)| around.get(at + name.len()..).map(value) == Some(application_id)),
    }
}

/// Whether the page is within the script of the settings where this part of it ends.
fn is_in_settings(before: &str) -> bool {
    let Some((_, script)) = before.rsplit_once("<script") else { return false };
    let Some((tag, content)) = script.split_once('>') else { return false };
    tag.contains(SETTINGS) && !content.contains("</script")
}

/// The word behind the name of a setting: letters and digits alone.
fn value(after_name: &str) -> &str {
    let mut rest = after_name;
    loop {
        let next = rest.trim_start_matches(|sign: char| sign.is_ascii_whitespace() || "\"'\\:=".contains(sign));
        let next = QUOTES.iter().fold(next, |text, quote| text.strip_prefix(quote).unwrap_or(text));
        if next.len() == rest.len() {
            break;
        }
        rest = next;
    }
    let end = rest.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const A_KEY: &str = "00112233445566778899aabbccddeeff";
    const ANOTHER: &str = "ffeeddccbbaa99887766554433221100";
    const ID: &str = "VFM4X0N23A";

    fn page(text: &str) -> String {
        let text = text.replace("KEY", A_KEY).replace("OTHER", ANOTHER);
        format!("<html><script src=\"a.js\"></script><p>\u{2014}</p>{text}</html>")
    }

    #[rstest]
    #[case::settings(r#"<script>window.x = {"algoliaAppId":"VFM4X0N23A","algoliaApiKey":"KEY","b":1}</script>"#, true)]
    #[case::in_the_other_order(r#"{"algoliaApiKey": "KEY", "c": {}, "algoliaAppId": "VFM4X0N23A"}"#, true)]
    #[case::of_a_script(r#"{algoliaAppId:'VFM4X0N23A',algoliaApiKey:'KEY'}"#, true)]
    #[case::a_text_in_a_script(r#""{\"algoliaAppId\":\"VFM4X0N23A\",\"algoliaApiKey\":\"KEY\"}""#, true)]
    #[case::an_attribute(
        "<div data-x=\"{&quot;algoliaAppId&quot;:&quot;VFM4X0N23A&quot;,&quot;algoliaApiKey&quot;:&quot;KEY&quot;}\">",
        true
    )]
    #[case::an_embedded_menu(
        r#"<script id="jane-app-settings" type="application/json">{"algoliaApiKey":"KEY"}</script>"#,
        true
    )]
    #[case::behind_another_application(
        r#"{"algoliaAppId":"AAAA","algoliaApiKey":"OTHER"} FAR {"algoliaAppId":"VFM4X0N23A","algoliaApiKey":"KEY"}"#,
        true
    )]
    #[case::of_another_application(r#"{"algoliaAppId":"AAAA","algoliaApiKey":"KEY"}"#, false)]
    #[case::of_no_application(r#"<script>{"algoliaApiKey":"KEY"}</script>"#, false)]
    #[case::behind_the_settings(r#"<script id="jane-app-settings">{}</script><p>{"algoliaApiKey":"KEY"}"#, false)]
    #[case::too_short(r#"{"algoliaAppId":"VFM4X0N23A","algoliaApiKey":"00112233"}"#, false)]
    #[case::too_long(r#"{"algoliaAppId":"VFM4X0N23A","algoliaApiKey":"KEYa"}"#, false)]
    #[case::no_hex(r#"{"algoliaAppId":"VFM4X0N23A","algoliaApiKey":"zzKEY"}"#, false)]
    #[case::no_value(r#"{"algoliaAppId":"VFM4X0N23A","algoliaApiKey":null}"#, false)]
    #[case::at_the_end("algoliaAppId=VFM4X0N23A algoliaApiKey", false)]
    #[case::no_settings("<p>Menu</p>", false)]
    fn a_page_shows_the_key_of_its_application(#[case] text: &str, #[case] is_found: bool) {
        let page = page(&text.replace("FAR", &"\u{e9}".repeat(2 * MAX_DISTANCE)));
        let found = key(page.as_bytes(), ID);
        assert_eq!(found.as_ref().map(Secret::reveal), is_found.then_some(A_KEY));
    }

    proptest! {
        #[test]
        fn no_page_panics(parts in prop::collection::vec(prop_oneof![
            ".*".boxed(),
            prop::sample::select(vec![KEY, APPLICATION, ID, A_KEY, SETTINGS, "<script", ">", "&quot;", "\":\"", "\u{e9}"])
                .prop_map(str::to_owned)
                .boxed(),
        ], 0..40), noise in prop::collection::vec(any::<u8>(), 0..40)) {
            let page = [parts.concat().into_bytes(), noise].concat();
            if let Some(found) = key(&page, ID) {
                prop_assert_eq!(found.reveal().len(), KEY_DIGITS);
            }
        }
    }
}
