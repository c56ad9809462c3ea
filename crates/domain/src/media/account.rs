//! Accounts of platforms whose media are scraped: which names and addresses they may have. Pure.

use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

use crate::http::public_host::is_public;
use crate::vocabulary::vocabulary;

/// Placeholder of an account's name in the address of a platform.
const USERNAME: &str = "{username}";
const MAX_USERNAME_CHARS: usize = 200;
const MAX_PLATFORM_BYTES: usize = 64;
const MAX_ADDRESS_BYTES: usize = 2_000;
/// Characters of a name that an address has as they are.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

vocabulary! {
    pub enum AccountKind {
        Public,
        /// An account whose content subscribers pay for: `paid_content_sync` scrapes it.
        Creator,
    }
}

/// Why a text cannot be a part of an account.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AccountFault {
    #[error("must be 1 to {MAX_USERNAME_CHARS} characters without slashes, `..` and control characters")]
    Username,
    #[error("must be 1 to {MAX_PLATFORM_BYTES} lower-case letters, digits, hyphens and underscores")]
    Platform,
    #[error(
        "must be an address such as https://site.example/ann, or mastodon:https://site.example/@ann with the name of a family of sites before it"
    )]
    Address,
    #[error("has a user name or a password in it: keep them as a credential")]
    LogIn,
    #[error("is on a private network; media.allow_private permits it")]
    Private,
    #[error("must have {USERNAME} in place of the account's name, after the host")]
    NoUsername,
}

/// A name as it may become a part of an address.
pub fn check_username(name: &str) -> Result<(), AccountFault> {
    let fits = (1..=MAX_USERNAME_CHARS).contains(&name.chars().count());
    let leads_elsewhere = name.contains(['/', '\\']) || name.contains("..") || name == ".";
    match fits && !leads_elsewhere && !name.contains(is_break) {
        true => Ok(()),
        false => Err(AccountFault::Username),
    }
}

/// The name by which the tool knows a site or a family of sites.
pub fn check_platform(name: &str) -> Result<(), AccountFault> {
    let is_safe = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    match (1..=MAX_PLATFORM_BYTES).contains(&name.len()) && name.bytes().all(is_safe) {
        true => Ok(()),
        false => Err(AccountFault::Platform),
    }
}

/// The address of the web in an address of an account, which may have the name of a family of sites before it.
pub fn web_address(address: &str) -> Result<Url, AccountFault> {
    if address.len() > MAX_ADDRESS_BYTES || address.contains(|char: char| is_break(char) || char.is_whitespace()) {
        return Err(AccountFault::Address);
    }
    let family = address.split_once(':').filter(|(family, _)| is_family(family));
    let web = family.map_or(address, |(_, rest)| rest);
    if !web.starts_with("http://") && !web.starts_with("https://") {
        return Err(AccountFault::Address);
    }
    let url = Url::parse(web).map_err(|_| AccountFault::Address)?;
    match url.username().is_empty() && url.password().is_none() {
        true => Ok(url),
        false => Err(AccountFault::LogIn),
    }
}

/// Checks the text alone: a public name may lead into a private network.
pub fn check_public(url: &Url) -> Result<(), AccountFault> {
    if url.host_str().is_some_and(is_public) { Ok(()) } else { Err(AccountFault::Private) }
}

/// Address of a platform's accounts: `https://site.example/{username}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AddressTemplate(String);

impl AddressTemplate {
    /// The address of an account.
    pub fn of(&self, username: &str) -> String {
        self.0.replace(USERNAME, &utf8_percent_encode(username, ENCODED).to_string())
    }

    pub fn check(&self) -> Result<(), AccountFault> {
        // a name in the place of the host would choose whom the credential goes to
        let of = |name: &str| web_address(&self.0.replace(USERNAME, name));
        let (url, other) = (of("a")?, of("b")?);
        match url != other && url.origin() == other.origin() {
            true => Ok(()),
            false => Err(AccountFault::NoUsername),
        }
    }
}

impl FromStr for AddressTemplate {
    type Err = AccountFault;

    fn from_str(text: &str) -> Result<Self, AccountFault> {
        let template = AddressTemplate(text.to_owned());
        template.check().map(|()| template)
    }
}

fn is_family(name: &str) -> bool {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_name && !matches!(name, "http" | "https")
}

fn is_break(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_name("ann", true)]
    #[case::an_address("ann@site.example", true)]
    #[case::a_letter_beyond_ascii("Åsa", true)]
    #[case::dots("a.b", true)]
    #[case::empty("", false)]
    #[case::a_slash("a/b", false)]
    #[case::a_backslash("a\\b", false)]
    #[case::up("..", false)]
    #[case::a_path("../../etc/passwd", false)]
    #[case::a_second_line("a\nb", false)]
    #[case::a_line_separator("a\u{2028}b", false)]
    #[case::long(&"a".repeat(4096), false)]
    fn a_username_is_one_part_of_an_address(#[case] name: &str, #[case] is_taken: bool) {
        assert_eq!(check_username(name).is_ok(), is_taken);
    }

    #[rstest]
    #[case::letters("instagram", true)]
    #[case::every_kind_of_character("site_4-you", true)]
    #[case::the_longest(&"a".repeat(64), true)]
    #[case::empty("", false)]
    #[case::long(&"a".repeat(65), false)]
    #[case::a_capital("Site", false)]
    #[case::a_dot("site.example", false)]
    #[case::a_slash("a/b", false)]
    fn a_platform_is_a_short_lower_case_name(#[case] name: &str, #[case] is_taken: bool) {
        assert_eq!(check_platform(name).is_ok(), is_taken);
    }

    #[rstest]
    #[case::a_site("https://site.example/ann", None)]
    #[case::a_family("mastodon:https://site.example/@ann", None)]
    #[case::a_file("file:///etc/passwd", Some(AccountFault::Address))]
    #[case::a_file_of_addresses("r:file:///etc/passwd", Some(AccountFault::Address))]
    #[case::two_families("r:r:https://a.example/", Some(AccountFault::Address))]
    #[case::an_option("--exec=x", Some(AccountFault::Address))]
    #[case::no_host("https://", Some(AccountFault::Address))]
    #[case::a_second_line("https://a.example/\nhttps://b.example/", Some(AccountFault::Address))]
    #[case::a_login("https://u:p@a.example/", Some(AccountFault::LogIn))]
    #[case::the_longest(&format!("https://a.example/{}", "p".repeat(1982)), None)]
    #[case::too_long(&format!("https://a.example/{}", "p".repeat(1983)), Some(AccountFault::Address))]
    fn an_address_is_one_of_the_web(#[case] address: &str, #[case] fault: Option<AccountFault>) {
        assert_eq!(web_address(address).err(), fault);
    }

    #[rstest]
    #[case::a_name("https://site.example/ann", true)]
    #[case::this_machine("http://localhost/ann", false)]
    #[case::loopback("http://127.0.0.1:8080/ann", false)]
    #[case::loopback_as_a_number("http://2130706433/ann", false)]
    #[case::metadata("http://169.254.169.254/latest", false)]
    #[case::private_six("http://[fd00::1]/ann", false)]
    fn a_private_address_is_known_by_its_text(#[case] address: &str, #[case] is_taken: bool) {
        assert_eq!(check_public(&web_address(address).unwrap()).is_ok(), is_taken);
    }

    #[rstest]
    #[case::a_path("https://site.example/{username}/media", true)]
    #[case::a_family("mastodon:https://site.example/@{username}", true)]
    #[case::a_query("https://site.example/?user={username}", true)]
    #[case::none("https://site.example/", false)]
    #[case::the_host("https://{username}.example/", false)]
    #[case::a_file("file:///{username}", false)]
    fn a_template_has_its_name_behind_the_host(#[case] text: &str, #[case] is_taken: bool) {
        assert_eq!(text.parse::<AddressTemplate>().is_ok(), is_taken);
    }

    #[test]
    fn a_name_in_an_address_is_encoded() {
        let template: AddressTemplate = "https://site.example/{username}".parse().unwrap();
        assert_eq!(template.of("a b?c#d%Å"), "https://site.example/a%20b%3Fc%23d%25%C3%85");
    }
}
