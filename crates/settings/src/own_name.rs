//! drover's own name to hosts: the `User-Agent` of `[http] own_name` and `own_contact`, and their rules.

use url::Url;

use super::Http;
use super::validate::{Rules, has_host, is_host};
use domain::notification::is_mail_address;

const DEFAULT_NAME: &str = concat!("drover/", env!("CARGO_PKG_VERSION"));
const MAX_NAME: usize = 80;
const MAX_CONTACT: usize = 200;
/// Name with which every browser begins.
const BROWSER: &str = "mozilla";

impl Http {
    /// `Name/version (+contact)`, without what is not known.
    pub fn own_user_agent(&self) -> String {
        let name = if self.own_name.is_empty() { DEFAULT_NAME } else { &self.own_name };
        match self.own_contact.is_empty() {
            true => name.to_owned(),
            false => format!("{name} (+{})", self.own_contact),
        }
    }
}

impl Rules<'_> {
    pub(super) fn own_name(&mut self, http: &Http) {
        let name = &http.own_name;
        let problem = "must be a name, or name/version, of letters, digits and - _ . such as Example/1.0";
        self.require(name.is_empty() || is_product(name), "http.own_name", problem);
        let is_honest = !name.to_ascii_lowercase().starts_with(BROWSER);
        self.require(is_honest, "http.own_name", "must not be the name of a browser");
        let contact = &http.own_contact;
        let problem = "must be an http or https address, or a mail address such as crawler@example.com";
        self.require(contact.is_empty() || is_contact(contact), "http.own_contact", problem);
    }
}

/// Whether it is a product of `User-Agent` (RFC 9110, 10.1.5): a name, and its version where it has one.
fn is_product(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_plain);
    let (name, version) = text.split_once('/').unwrap_or((text, "0"));
    text.len() <= MAX_NAME && is_word(name) && is_word(version)
}

/// Whether it fits between the parentheses of a comment, and a person can be reached there.
fn is_contact(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'(' | b')' | b'\\' | b'"');
    text.len() <= MAX_CONTACT
        && text.bytes().all(fits)
        && (is_web_address(text) || is_mail_address(text) && has_mail_host(text))
}

fn is_web_address(text: &str) -> bool {
    let is_open = |url: &Url| url.username().is_empty() && url.password().is_none();
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && has_host(&url) && is_open(&url))
}

fn has_mail_host(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(_, host)| is_host(host))
}
