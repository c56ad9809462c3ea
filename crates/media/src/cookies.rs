//! Cookies of a credential: a file in Netscape's format, as browsers' extensions and the tools write it. Pure.
//!
//! In: the text of the file, which may be that of a whole browser. Out: the cookies for one host or address, and a file
//! of these alone. No error shows a value.

use thiserror::Error;
use url::Url;

/// Prefix of the domain of a cookie that scripts cannot read.
const HTTP_ONLY: &str = "#HttpOnly_";
/// Maximum number of cookies of a file.
const MAX_COOKIES: usize = 1_000;

/// A cookie. Its value is a secret, so it has no `Debug`.
#[derive(PartialEq, Eq)]
pub struct Cookie {
    domain: String,
    /// Whether it is for the hosts below its domain, too.
    is_for_subdomains: bool,
    path: String,
    is_secure: bool,
    name: String,
    value: String,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum CookieError {
    #[error(
        "line {line} of the cookies has {fields} fields; a file in Netscape's format has 7, with tabs between them"
    )]
    Fields { line: usize, fields: usize },
    #[error("line {line} of the cookies has no domain, or an unprintable character")]
    Unclear { line: usize },
    #[error("the cookies have more than {MAX_COOKIES} lines")]
    TooMany,
}

/// Comments and empty lines are left out. Expiry is left to the service.
pub fn read(text: &str) -> Result<Vec<Cookie>, CookieError> {
    let mut cookies = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        let line = line.strip_prefix(HTTP_ONLY).unwrap_or(line);
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let [domain, subdomains, path, secure, _expires, name, value] = fields[..] else {
            return Err(CookieError::Fields { line: nth + 1, fields: fields.len() });
        };
        if domain.trim_start_matches('.').is_empty() || line.contains(|c: char| c.is_control() && c != '\t') {
            return Err(CookieError::Unclear { line: nth + 1 });
        }
        if cookies.len() == MAX_COOKIES {
            return Err(CookieError::TooMany);
        }
        cookies.push(Cookie {
            domain: domain.trim_start_matches('.').to_ascii_lowercase(),
            is_for_subdomains: subdomains.eq_ignore_ascii_case("TRUE"),
            path: path.to_owned(),
            is_secure: secure.eq_ignore_ascii_case("TRUE"),
            name: name.to_owned(),
            value: value.to_owned(),
        });
    }
    Ok(cookies)
}

/// The cookies for a host, whatever their paths.
pub fn of_host(cookies: Vec<Cookie>, host: &str) -> Vec<Cookie> {
    cookies.into_iter().filter(|cookie| cookie.is_of(host)).collect()
}

/// The file of these cookies. None of them expires: that is left to the service.
pub fn file(cookies: &[Cookie]) -> String {
    let lines = cookies.iter().map(Cookie::line);
    std::iter::once("# Netscape HTTP Cookie File\n".to_owned()).chain(lines).collect()
}

/// The content of the header `Cookie` for an address; None: no cookie is for it.
pub fn header(cookies: &[Cookie], url: &Url) -> Option<String> {
    let pairs = cookies.iter().filter(|cookie| cookie.is_for(url));
    let pairs: Vec<String> = pairs.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    Some(pairs.join("; ")).filter(|text| !text.is_empty())
}

impl Cookie {
    pub fn value(&self) -> &str {
        &self.value
    }

    fn line(&self) -> String {
        let word = |is: bool| if is { "TRUE" } else { "FALSE" };
        let dot = if self.is_for_subdomains { "." } else { "" };
        let Cookie { domain, path, name, value, .. } = self;
        let (subdomains, secure) = (word(self.is_for_subdomains), word(self.is_secure));
        format!("{dot}{domain}\t{subdomains}\t{path}\t{secure}\t0\t{name}\t{value}\n")
    }

    fn is_of(&self, host: &str) -> bool {
        let is_below = || host.strip_suffix(&self.domain).is_some_and(|rest| rest.ends_with('.'));
        host == self.domain || (self.is_for_subdomains && is_below())
    }

    fn is_for(&self, url: &Url) -> bool {
        let is_of_host = url.host_str().is_some_and(|host| self.is_of(host));
        is_of_host && (url.scheme() == "https" || !self.is_secure) && covers(&self.path, url.path())
    }
}

/// `/board` covers `/board` and what is below it, and not `/boards`.
fn covers(path: &str, of: &str) -> bool {
    match of.strip_prefix(path) {
        Some(rest) => rest.is_empty() || path.ends_with('/') || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const FILE: &str = "# Netscape HTTP Cookie File\n\n\
        forum.example\tFALSE\t/\tFALSE\t0\txf_user\t24,abc\n\
        #HttpOnly_.forum.example\tTRUE\t/board\tTRUE\t1893456000\txf_session\tdef\r\n";

    #[rstest]
    #[case::host("https://forum.example/", Some("xf_user=24,abc"))]
    #[case::below_the_path("https://forum.example/board/threads/1/", Some("xf_user=24,abc; xf_session=def"))]
    #[case::another_path("https://forum.example/boards", Some("xf_user=24,abc"))]
    #[case::in_clear("http://forum.example/board", Some("xf_user=24,abc"))]
    #[case::a_host_below("https://cdn.forum.example/board", Some("xf_session=def"))]
    #[case::another_host("https://badforum.example/board", None)]
    fn a_cookie_goes_to_its_own_addresses(#[case] address: &str, #[case] expected: Option<&str>) {
        let cookies = read(FILE).unwrap_or_default();
        assert_eq!(header(&cookies, &address.parse().unwrap()).as_deref(), expected);
    }

    #[test]
    fn the_cookies_of_a_host_are_those_of_all_its_paths_and_their_file_says_the_same() {
        let cookies = of_host(read(FILE).unwrap_or_default(), "forum.example");
        let names: Vec<&str> = cookies.iter().map(|cookie| cookie.name.as_str()).collect();
        assert_eq!(names, ["xf_user", "xf_session"]);
        assert!(read(&file(&cookies)).is_ok_and(|read| read == cookies));
        assert!(of_host(read(FILE).unwrap_or_default(), "notforum.example").is_empty());
    }

    #[rstest]
    #[case::return_in_a_value("forum.example\tFALSE\t/\tFALSE\t0\tname\tcanary\rx")]
    #[case::no_domain("\tFALSE\t/\tFALSE\t0\tname\tcanary")]
    fn a_line_that_programs_would_read_in_different_ways_is_refused(#[case] text: &str) {
        let error = read(text).err().unwrap();
        assert_eq!(error, CookieError::Unclear { line: 1 });
        assert!(!error.to_string().contains("canary"));
    }

    #[test]
    fn a_line_of_another_form_is_named_without_its_text() {
        let error = read("# a\nxf_user=canary").err().unwrap();
        assert_eq!(error, CookieError::Fields { line: 2, fields: 1 });
        assert!(!error.to_string().contains("canary"));
    }
}
