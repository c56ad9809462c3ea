//! Where a request comes from: the host that it names, and the site of the page that causes it.
//!
//! A page of another site could reach this server by a name of its own that resolves to this machine.
//! Browsers send `Origin` or `Sec-Fetch-Site` with requests that a page causes.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue};

use super::ApiError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The hosts by which clients may call this server.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// Names beside the loopback names.
    names: Vec<String>,
    /// Any name will do.
    any: bool,
}

impl Hosts {
    /// `names` from the configuration. A server that listens on more than loopback is called by names that it
    /// cannot know: where none is configured, it answers to any.
    pub fn new(names: &[String], is_loopback: bool) -> Self {
        Hosts { names: names.to_vec(), any: names.is_empty() && !is_loopback }
    }

    fn holds(&self, host: &str) -> bool {
        self.any || is_loopback(host) || self.names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

/// The host that an acceptable request names.
pub fn check(request: &Request, hosts: &Hosts) -> Result<Authority, ApiError> {
    let host = host_of(request)?;
    if !hosts.holds(host.host()) {
        return Err(ApiError::Forbidden(format!(
            "Host is {host}, which is not a name of this server: call it as localhost or 127.0.0.1, or add the name to api.hosts"
        )));
    }
    check_site(request)?;
    let same = [format!("http://{host}"), format!("https://{host}")];
    let is_same =
        |origin: &HeaderValue| same.iter().any(|same| origin.as_bytes().eq_ignore_ascii_case(same.as_bytes()));
    match request.headers().get_all(ORIGIN).iter().all(is_same) {
        true => Ok(host),
        false => Err(ApiError::Forbidden(format!("Origin does not belong to {host}"))),
    }
}

pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A request that changes something and that another site's page causes is refused, also when it has no
/// `Origin`.
fn check_site(request: &Request) -> Result<(), ApiError> {
    let mut sites = request.headers().get_all(SEC_FETCH_SITE).iter();
    match request.method().is_safe() || sites.all(|site| matches!(site.as_bytes(), b"same-origin" | b"none")) {
        true => Ok(()),
        false => {
            Err(ApiError::Forbidden("according to Sec-Fetch-Site, a page of another site sent this request".to_owned()))
        }
    }
}

fn host_of(request: &Request) -> Result<Authority, ApiError> {
    let mut named = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        return Err(ApiError::bad("Host", "exactly one is needed"));
    };
    let host = Authority::try_from(host.as_bytes()).map_err(|_| ApiError::bad("Host", "no host and port"))?;
    if host.as_str().contains('@') {
        return Err(ApiError::bad("Host", "no host and port"));
    }
    // `GET http://other/ HTTP/1.1` asks for another host than its header names
    match request.uri().authority().is_none_or(|target| target.as_str().eq_ignore_ascii_case(host.as_str())) {
        true => Ok(host),
        false => Err(ApiError::bad("Host", "not the host of the request's target")),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use rstest::rstest;

    use super::*;

    fn local() -> Hosts {
        Hosts::new(&[], true)
    }

    #[rstest]
    #[case::local(&[], true, false)]
    #[case::named(&["crawler.example"], true, true)]
    #[case::named_in_other_case(&["Crawler.Example"], false, true)]
    #[case::others_named(&["api.example"], false, false)]
    #[case::open_to_the_network(&[], false, true)]
    fn a_server_answers_to_its_names(#[case] names: &[&str], #[case] is_loopback: bool, #[case] admitted: bool) {
        let hosts = Hosts::new(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), is_loopback);
        let request = Request::builder().uri("/api/tasks").header(HOST, "crawler.example:8080");
        assert_eq!(check(&request.body(Body::empty()).unwrap(), &hosts).is_ok(), admitted);
    }

    #[rstest]
    #[case::name("localhost", None, true)]
    #[case::name_and_port("localhost:8080", None, true)]
    #[case::v4("127.0.0.1:8080", None, true)]
    #[case::v6("[::1]:8080", None, true)]
    #[case::rebound("evil.example:8080", None, false)]
    #[case::looks_alike("localhost.evil.example", None, false)]
    #[case::another_address("10.0.0.1", None, false)]
    #[case::user("localhost@evil.example", None, false)]
    #[case::same_origin("localhost:8080", Some("http://localhost:8080"), true)]
    #[case::other_port("localhost:8080", Some("http://localhost:9090"), false)]
    #[case::other_site("localhost:8080", Some("https://evil.example"), false)]
    #[case::sandboxed("localhost:8080", Some("null"), false)]
    fn only_this_machine_is_served(#[case] host: &str, #[case] origin: Option<&str>, #[case] admitted: bool) {
        let mut request = Request::builder().uri("/api/tasks").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        assert_eq!(check(&request.body(Body::empty()).unwrap(), &local()).is_ok(), admitted);
    }

    #[rstest]
    #[case::read("GET", "cross-site", true)]
    #[case::write("POST", "cross-site", false)]
    #[case::write_from_another_port("POST", "same-site", false)]
    #[case::own_page("DELETE", "same-origin", true)]
    #[case::typed_by_a_person("POST", "none", true)]
    fn another_site_changes_nothing(#[case] method: &str, #[case] site: &str, #[case] admitted: bool) {
        let request = Request::builder().method(method).header(HOST, "localhost").header(SEC_FETCH_SITE, site);
        assert_eq!(check(&request.body(Body::empty()).unwrap(), &local()).is_ok(), admitted);
    }

    #[rstest]
    #[case::two_hosts(Request::builder().header(HOST, "localhost").header(HOST, "evil.example"))]
    #[case::another_target(Request::builder().uri("http://evil.example/api/tasks").header(HOST, "localhost"))]
    fn one_request_names_one_host(#[case] request: axum::http::request::Builder) {
        assert!(check(&request.body(Body::empty()).unwrap(), &local()).is_err());
    }
}
