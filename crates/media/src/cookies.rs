//! Cookies of a credential: a file in Netscape's format, as browsers' extensions and the tools write it. Pure.
//!
//! In: the text of the file. Out: the cookies for one address. No error shows a value.

use thiserror::Error;
use url::Url;

/// In front of the domain of a cookie that scripts cannot read.
const HTTP_ONLY: &str = "#HttpOnly_";
/// Maximum number of cookies of a file.
const MAX_COOKIES: usize = 1_000;

/// It has no `Debug`: the value is a secret.
#[derive(PartialEq, Eq)]
pub struct Cookie {
    domain: String,
    /// It is for the hosts below its domain, too.
    is_for_subdomains: bool,
    path: String,
    is_secure: bool,
    pub name: String,
    pub value: String,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum CookieError {
    #[error(
        "line {line} of the cookies has {fields} fields; a file in Netscape's format has 7, with tabs between them"
    )]
    Fields { line: usize, fields: usize },
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

/// The content of the header `Cookie` for an address; None: no cookie is for it.
pub fn header(cookies: &[Cookie], url: &Url) -> Option<String> {
    let pairs = cookies.iter().filter(|cookie| cookie.is_for(url));
    let pairs: Vec<String> = pairs.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    Some(pairs.join("; ")).filter(|text| !text.is_empty())
}

impl Cookie {
    fn is_for(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let is_below = || host.strip_suffix(&self.domain).is_some_and(|rest| rest.ends_with('.'));
        let is_host = host == self.domain || (self.is_for_subdomains && is_below());
        is_host && (url.scheme() == "https" || !self.is_secure) && covers(&self.path, url.path())
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
    fn a_line_of_another_form_is_named_without_its_text() {
        let error = read("# a\nxf_user=canary").err().unwrap();
        assert_eq!(error, CookieError::Fields { line: 2, fields: 1 });
        assert!(!error.to_string().contains("canary"));
    }
}
