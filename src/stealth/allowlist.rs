//! `AllowList`: the only hosts that are ever contacted.
//!
//! Pure: an address goes in, whether it may be contacted comes out.

use url::Url;

use super::error::FetchError;

/// Entries are `host` (any port) or `host:port`.
#[derive(Clone, Debug, Default)]
pub struct AllowList(Vec<String>);

impl AllowList {
    pub fn new(entries: impl IntoIterator<Item = String>) -> Self {
        AllowList(entries.into_iter().map(|entry| entry.trim().to_ascii_lowercase()).collect())
    }

    /// The same list and some more hosts.
    pub fn with(&self, entries: impl IntoIterator<Item = String>) -> Self {
        let mut all = self.clone();
        all.0.extend(AllowList::new(entries).0);
        all
    }

    /// Whether [`Self::check`] permits this address.
    pub fn permits(&self, address: &str) -> bool {
        Url::parse(address).is_ok_and(|url| self.check(&url).is_ok())
    }

    /// [`FetchError::NotAllowed`] for a URL that is not http(s), carries credentials, or is not on the list.
    pub fn check(&self, url: &Url) -> Result<(), FetchError> {
        let not_allowed = |reason: &str| {
            Err(FetchError::NotAllowed {
                what: url.host_str().unwrap_or_default().to_owned(),
                reason: reason.to_owned(),
            })
        };
        match url.scheme() {
            "http" | "https" => {}
            _ => return not_allowed("it is not an http or https address"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return not_allowed("the address holds credentials");
        }
        if !self.holds(url) {
            return not_allowed("the host is not on the allow-list");
        }
        Ok(())
    }

    fn holds(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let fits = |entry: &String| entry == host || *entry == format!("{host}:{port}");
        !host.is_empty() && self.0.iter().any(fits)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_host("https://dutchie.com/graphql", true)]
    #[case::any_port("http://dutchie.com:8080/", true)]
    #[case::upper_case("https://DUTCHIE.com/", true)]
    #[case::a_subdomain("https://www.dutchie.com/", false)]
    #[case::a_longer_name("https://notdutchie.com/", false)]
    #[case::host_and_port("http://127.0.0.1:4000/", true)]
    #[case::another_port("http://127.0.0.1:4001/", false)]
    #[case::a_pattern_is_none("https://menu.shop.example/", false)]
    #[case::another_scheme("ftp://dutchie.com/", false)]
    #[case::credentials("https://user:word@dutchie.com/", false)]
    fn only_listed_hosts_are_contacted(#[case] url: &str, #[case] allowed: bool) {
        let list = AllowList::new(["dutchie.com", "127.0.0.1:4000", "*.shop.example"].map(str::to_owned));
        assert_eq!(list.check(&url.parse().unwrap()).is_ok(), allowed);
    }
}
