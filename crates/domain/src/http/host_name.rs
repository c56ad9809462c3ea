//! `HostName`: a host as people type it in settings, lists and requests: an IP address, or a name of RFC 1123.
//!
//! In: a text without scheme and port. Out: the same in lower case. Names are not resolved here.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

/// Maximum length of a name.
const MAX_NAME: usize = 253;
/// Maximum length of a part between dots.
const MAX_LABEL: usize = 63;

/// IPv6 is written without brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostName(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a host name or address")]
pub struct BadHostName;

impl HostName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HostName {
    type Err = BadHostName;

    fn from_str(text: &str) -> Result<HostName, BadHostName> {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let is_host = match bare {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => text.parse::<Ipv6Addr>().is_ok() || text.parse::<Ipv4Addr>().is_ok() || is_name(text),
        };
        is_host.then(|| HostName(bare.unwrap_or(text).to_ascii_lowercase())).ok_or(BadHostName)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A last label of digits would be a part of an address: some readers take `0` for 0.0.0.0.
fn is_name(text: &str) -> bool {
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    text.len() <= MAX_NAME && text.split('.').all(is_label) && !text.rsplit('.').next().is_some_and(is_number)
}

fn is_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(is_letter)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_name("Gate-7.example.COM", Some("gate-7.example.com"))]
    #[case::one_label("proxy", Some("proxy"))]
    #[case::digits_before_the_last_label("203.example", Some("203.example"))]
    #[case::digits_in_the_last_label("a.x2", Some("a.x2"))]
    #[case::ipv4("203.0.113.9", Some("203.0.113.9"))]
    #[case::ipv6("2001:DB8::1", Some("2001:db8::1"))]
    #[case::ipv6_in_brackets("[2001:db8::1]", Some("2001:db8::1"))]
    #[case::a_number("0", None)]
    #[case::part_of_an_address("10.1", None)]
    #[case::too_large_for_an_address("300.1.1.1", None)]
    #[case::nothing("", None)]
    #[case::a_dot(".", None)]
    #[case::an_empty_label("a..b", None)]
    #[case::a_dot_at_the_end("a.example.", None)]
    #[case::a_hyphen_in_front("-a.example", None)]
    #[case::a_hyphen_behind("a-.example", None)]
    #[case::an_underscore("a_b.example", None)]
    #[case::another_letter("b\u{fc}cher.example", None)]
    #[case::a_port("a.example:80", None)]
    #[case::a_path("a.example/b", None)]
    #[case::a_wildcard("*.example", None)]
    #[case::a_blank("a b", None)]
    #[case::an_address_in_brackets("[203.0.113.9]", None)]
    fn hosts_are_addresses_or_names(#[case] text: &str, #[case] host: Option<&str>) {
        assert_eq!(text.parse::<HostName>().ok().as_ref().map(HostName::as_str), host);
    }

    #[rstest]
    #[case::label("b".repeat(63) + ".a", true)]
    #[case::longer_label("b".repeat(64) + ".a", false)]
    #[case::name("a.".repeat(126) + "a", true)]
    #[case::longer_name("a.".repeat(126) + "aa", false)]
    #[case::zeros("0".repeat(250), false)]
    fn names_and_their_labels_have_bounds(#[case] text: String, #[case] fits: bool) {
        assert_eq!(text.parse::<HostName>().is_ok(), fits);
    }
}
