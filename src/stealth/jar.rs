//! `Jar`: the cookies of one route, lost with it and never shared.
//!
//! Bounded in number and size. It must not know requests: addresses and `Set-Cookie` values go in, pairs to
//! send come out.

use chrono::{DateTime, Utc};
use url::Url;

use super::cookie_date::cookie_date;

const MAX_COOKIES: usize = 64;
const MAX_COOKIE_BYTES: usize = 4096;

#[derive(Debug, Default)]
pub struct Jar(Vec<Cookie>);

#[derive(Debug, PartialEq)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    /// Whether it has no Domain attribute, and so goes back to the very host that set it.
    host_only: bool,
    path: String,
    secure: bool,
    expires: Option<DateTime<Utc>>,
}

impl Jar {
    /// Keeps what `set_cookie` (one header's value) asks to keep, unless it belongs to another site, is too
    /// long, or the jar is full.
    pub fn store(&mut self, url: &Url, set_cookie: &str, now: DateTime<Utc>) {
        let Some(cookie) = Cookie::read(url, set_cookie, now) else { return };
        let same =
            |known: &Cookie| known.name == cookie.name && known.domain == cookie.domain && known.path == cookie.path;
        let gone = cookie.expires.is_some_and(|expires| expires <= now);
        self.0.retain(|known| known.expires.is_none_or(|expires| expires > now) || same(known));
        match (self.0.iter().position(same), gone) {
            (Some(known), true) => drop(self.0.remove(known)),
            (Some(known), false) => self.0[known] = cookie,
            (None, true) => {}
            (None, false) if self.0.len() < MAX_COOKIES => self.0.push(cookie),
            (None, false) => {}
        }
    }

    /// The pairs for a request to `url`: longest path first, then oldest first.
    pub fn pairs(&self, url: &Url, now: DateTime<Utc>) -> Vec<String> {
        let mut fitting: Vec<_> = self.0.iter().filter(|cookie| cookie.fits(url, now)).collect();
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        fitting.into_iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect()
    }
}

impl Cookie {
    fn read(url: &Url, set_cookie: &str, now: DateTime<Utc>) -> Option<Cookie> {
        if set_cookie.len() > MAX_COOKIE_BYTES || set_cookie.contains(|c: char| c.is_ascii_control() && c != '\t') {
            return None;
        }
        let mut parts = set_cookie.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let host = url.host_str()?.to_ascii_lowercase();
        let mut cookie = Cookie {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
            domain: host.clone(),
            host_only: true,
            path: default_path(url),
            secure: false,
            expires: None,
        };
        let mut max_age = None;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.trim().is_empty() => cookie.scope_to(value, &host)?,
                "path" if value.trim().starts_with('/') => cookie.path = value.trim().to_owned(),
                "secure" => cookie.secure = true,
                "expires" => cookie.expires = cookie_date(value).or(cookie.expires),
                "max-age" => max_age = value.trim().parse::<i64>().ok(),
                _ => {}
            }
        }
        let lives = max_age.map(|seconds| chrono::TimeDelta::seconds(seconds.clamp(-1, 400 * 86_400)));
        cookie.expires = lives.map(|lives| now + lives).or(cookie.expires);
        (!cookie.name.is_empty() && (!cookie.secure || url.scheme() == "https")).then_some(cookie)
    }

    /// A host may widen a cookie to a domain it belongs to, but not to a whole top-level domain.
    fn scope_to(&mut self, domain: &str, host: &str) -> Option<()> {
        let domain = domain.trim().trim_start_matches('.').to_ascii_lowercase();
        if domain != host && !(domain.contains('.') && is_under(host, &domain)) {
            return None;
        }
        self.domain = domain;
        self.host_only = false;
        Some(())
    }

    fn fits(&self, url: &Url, now: DateTime<Utc>) -> bool {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let host_fits = host == self.domain || (!self.host_only && is_under(&host, &self.domain));
        let scheme_fits = !self.secure || url.scheme() == "https";
        let alive = self.expires.is_none_or(|expires| expires > now);
        host_fits && scheme_fits && alive && path_fits(url.path(), &self.path)
    }
}

fn is_under(host: &str, domain: &str) -> bool {
    let is_name = host.parse::<std::net::Ipv4Addr>().is_err();
    is_name && host.strip_suffix(domain).is_some_and(|front| front.ends_with('.'))
}

fn path_fits(asked: &str, cookie: &str) -> bool {
    asked.strip_prefix(cookie).is_some_and(|rest| rest.is_empty() || cookie.ends_with('/') || rest.starts_with('/'))
}

fn default_path(url: &Url) -> String {
    match url.path().rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(last) => url.path()[..last].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PAGE: &str = "https://menu.example.com/api-3/graphql";

    fn jar_after(set: &[&str]) -> Jar {
        let mut jar = Jar::default();
        set.iter().for_each(|set| jar.store(&PAGE.parse().unwrap(), set, now()));
        jar
    }

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    #[rstest]
    #[case::plain(&["a=1"], PAGE, &["a=1"])]
    #[case::the_path_is_that_of_the_setter(&["a=1"], "https://menu.example.com/other", &[])]
    #[case::a_wider_path(&["a=1; Path=/"], "https://menu.example.com/other", &["a=1"])]
    #[case::longest_path_first(&["a=1; Path=/", "b=2"], PAGE, &["b=2", "a=1"])]
    #[case::the_last_value_counts(&["a=1", "a=2"], PAGE, &["a=2"])]
    #[case::deleted(&["a=1", "a=; Max-Age=0"], PAGE, &[])]
    #[case::expired(&["a=1; Expires=Wed, 21-Oct-2015 07:28:00 GMT"], PAGE, &[])]
    #[case::expired_in_the_form_of_rfc_850(&["a=1; Expires=Wednesday, 21-Oct-15 07:28:00 GMT"], PAGE, &[])]
    #[case::expired_in_the_form_of_asctime(&["a=1; Expires=Wed Oct 21 07:28:00 2015"], PAGE, &[])]
    #[case::expired_in_the_form_of_old_servers(&["a=1", "a=; Expires=Thu, 01-Jan-70 00:00:00 GMT"], PAGE, &[])]
    #[case::a_date_that_cannot_be_read_counts_for_nothing(&["a=1; Expires=soon"], PAGE, &["a=1"])]
    #[case::a_tab_in_the_value(&["a=1\t2;\tPath=/"], PAGE, &["a=1\t2"])]
    #[case::a_byte_outside_of_ascii(&["a=Z\u{fc}rich"], PAGE, &["a=Z\u{fc}rich"])]
    #[case::another_control_character(&["a=1\u{1}2"], PAGE, &[])]
    #[case::max_age_beats_expires(&["a=1; Max-Age=60; Expires=Wed, 21 Oct 2015 07:28:00 GMT"], PAGE, &["a=1"])]
    #[case::host_only(&["a=1; Path=/"], "https://sub.menu.example.com/", &[])]
    #[case::a_domain(&["a=1; Path=/; Domain=example.com"], "https://www.example.com/", &["a=1"])]
    #[case::a_foreign_domain(&["a=1; Domain=example.org"], PAGE, &[])]
    #[case::a_top_level_domain(&["a=1; Domain=com"], PAGE, &[])]
    #[case::no_pair(&["nonsense"], PAGE, &[])]
    #[case::secure_stays_on_https(&["a=1; Path=/; Secure"], "http://menu.example.com/", &[])]
    fn cookies_go_where_they_belong(#[case] set: &[&str], #[case] url: &str, #[case] sent: &[&str]) {
        assert_eq!(jar_after(set).pairs(&url.parse().unwrap(), now()), sent);
    }

    #[test]
    fn the_jar_has_a_bound() {
        let many: Vec<_> = (0..1000).map(|n| format!("c{n}=1")).collect();
        let jar = jar_after(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(jar.pairs(&PAGE.parse().unwrap(), now()).len(), MAX_COOKIES);
    }

    #[test]
    fn expired_cookies_make_room() {
        let short: Vec<_> = (0..MAX_COOKIES).map(|n| format!("c{n}=1; Max-Age=60")).collect();
        let mut jar = jar_after(&short.iter().map(String::as_str).collect::<Vec<_>>());
        let later = now() + chrono::TimeDelta::seconds(61);
        jar.store(&PAGE.parse().unwrap(), "new=1", later);
        assert_eq!(jar.pairs(&PAGE.parse().unwrap(), later), ["new=1"]);
    }
}
