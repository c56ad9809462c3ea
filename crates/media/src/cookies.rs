//! `of_host`: the cookies for one host, from a file in Netscape's format.
//!
//! In: the text of the file, which may be that of a whole browser. Out: names and values for this host alone.

use std::collections::BTreeMap;

/// Marks a cookie that scripts do not see; to us it is one like the others.
const HTTP_ONLY: &str = "#HttpOnly_";

/// Later lines win. Empty: there is none for this host.
pub fn of_host(text: &str, host: &str) -> BTreeMap<String, String> {
    text.lines().filter_map(|line| cookie(line, host)).collect()
}

fn cookie(line: &str, host: &str) -> Option<(String, String)> {
    let line = line.trim_end_matches(['\r', '\n']);
    let line = line.strip_prefix(HTTP_ONLY).unwrap_or(line);
    if line.starts_with('#') {
        return None;
    }
    let mut fields = line.split('\t');
    let domain = fields.next()?;
    let (name, value) = (fields.nth(4)?, fields.next()?);
    (is_of(domain, host) && !name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

fn is_of(domain: &str, host: &str) -> bool {
    let domain = domain.trim_start_matches('.').to_ascii_lowercase();
    let rest = host.strip_suffix(&domain);
    !domain.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Netscape HTTP Cookie File\n\
        .site.example\tTRUE\t/\tTRUE\t1999999999\tsession\told\r\n\
        #HttpOnly_.site.example\tTRUE\t/\tTRUE\t1999999999\tsession\tnew\r\n\
        www.site.example\tFALSE\t/\tFALSE\t0\tlang\ten\n\
        .other.example\tTRUE\t/\tTRUE\t0\tsession\tof another site\n\
        evilsite.example\tTRUE\t/\tTRUE\t0\tevil\t1\n\
        a line without tabs\n\n";

    #[test]
    fn a_host_gets_its_own_cookies_and_those_of_its_domain() {
        let pairs = |host| of_host(FILE, host).into_iter().collect::<Vec<_>>();
        let session = ("session".to_owned(), "new".to_owned());
        assert_eq!(pairs("site.example"), std::slice::from_ref(&session));
        assert_eq!(pairs("www.site.example"), [("lang".to_owned(), "en".to_owned()), session]);
        assert!(pairs("example").is_empty() && pairs("127.0.0.1").is_empty());
    }
}
