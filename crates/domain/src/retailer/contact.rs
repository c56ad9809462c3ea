//! Phone and website of a store. In: text as a platform writes it. Out: what two platforms that mean the same have in common.

use crate::text;

const PHONE_DIGITS: usize = 10;
/// Maximum number of characters of a phone number that are read.
const MAX_PHONE: usize = 40;
/// Maximum length of a host name (RFC 1035).
const MAX_HOST: usize = 253;

/// Hosts on which shops of many retailers have their pages.
const SHARED_HOSTS: [&str; 16] = [
    "dutchie.com",
    "facebook.com",
    "google.com",
    "iheartjane.com",
    "instagram.com",
    "leafly.com",
    "linktr.ee",
    "squarespace.com",
    "square.site",
    "twitter.com",
    "weedmaps.com",
    "wixsite.com",
    "wm.store",
    "wordpress.com",
    "x.com",
    "yelp.com",
];

/// The last ten digits, without an extension.
pub(super) fn phone(text: &str) -> Option<String> {
    let read: String = text.chars().skip_while(|char| char.is_alphabetic()).take(MAX_PHONE).collect();
    let number = read.split(|char: char| char.is_alphabetic()).next()?;
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let last = &digits[digits.len().checked_sub(PHONE_DIGITS)?..];
    let is_filler = last.bytes().all(|digit| last.starts_with(char::from(digit)));
    (!is_filler).then(|| last.to_owned())
}

/// The host of a website that belongs to one retailer, maybe with several shops.
pub(super) fn website(text: &str) -> Option<String> {
    let text = text.trim();
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = after_scheme.split(['/', '?', '#', ':', '\\']).next()?;
    if host.len() > MAX_HOST || !host.contains('.') {
        return None;
    }
    let host = text::folded(host);
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let is_below =
        |shared: &&str| host.strip_suffix(*shared).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    (!SHARED_HOSTS.iter().any(is_below)).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("4805550100", Some("4805550100"))]
    #[case::signs("+1 (480) 555-0100", Some("4805550100"))]
    #[case::extension("480.555.0100 ext. 12", Some("4805550100"))]
    #[case::label("Tel: 480 555 0100", Some("4805550100"))]
    #[case::short("555-0100", None)]
    #[case::filler("000-000-0000", None)]
    #[case::empty("", None)]
    fn a_phone_is_its_last_ten_digits(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(phone(text).as_deref(), expected);
    }

    #[rstest]
    #[case::host("copperfern.example", Some("copperfern.example"))]
    #[case::url("https://www.CopperFern.example/mesa?x=1", Some("copperfern.example"))]
    #[case::port("http://copperfern.example:8080", Some("copperfern.example"))]
    #[case::platform("https://dutchie.com/embedded-menu/copper-fern", None)]
    #[case::below_a_platform("https://copper-fern.wm.store", None)]
    #[case::like_a_platform("https://notdutchie.com", Some("notdutchie.com"))]
    #[case::no_host("copper fern", None)]
    fn a_website_is_the_host_of_one_retailer(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(website(text).as_deref(), expected);
    }
}
