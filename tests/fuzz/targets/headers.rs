//! Any request and any cookies for any identity: the builder gives one host, keeps the browser's order, and
//! adds nothing that could end a line.

use std::sync::LazyLock;

use drover::stealth::headers::{self, authority};
use drover::stealth::{Identities, Identity, Protocol, Request, RequestKind, States};
use url::Url;

pub const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\0",
    "https://",
    "http://",
    "menu.test",
    "[::1]:8443",
    "é.test",
    "user:word@",
    "a=1; b=2",
    "/api-3/graphql",
    "%0d%0a",
    "#",
    "?",
    "\u{202e}",
    "xn--80ak6aa92e.com",
];

const SCRIPT_HEADERS: [&str; 6] = [
    "accept",
    "content-type",
    "apollographql-client-name",
    "apollo-require-preflight",
    "x-apollo-operation-name",
    "x-unheard",
];

/// Maximum fields of a browser without cookies.
const MOST_FIELDS: usize = 24;

static IDENTITIES: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    let (identities, states) = (Identities::load(None).unwrap(), States::load(None).unwrap());
    let locale = states.of(Some("AZ"));
    let browsers = identities.all().iter().map(|fingerprint| Identity::browser(fingerprint.clone(), locale));
    browsers.chain([Identity::own("Example/1.0 (+https://example.com/)", locale)]).collect()
});

/// Lines: choice, url, page, and then cookies.
pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "\x01\x3f\nhttps://menu.test/api-3/graphql?a=1\nhttps://menu.test/dispensary/green-door?x=1#top\nseen=1\nother=2",
        "\x05\x01\nhttps://api.other.test:8443/graphql\nhttps://menu.test/\n",
        "\x0b\u{80}\nhttp://[::1]:8080/\nhttp://user:word@[::1]:8080/x\na=\"b; c\"",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let choice: Vec<usize> = lines.next().unwrap_or_default().chars().map(|c| c as usize).collect();
    let pick = |place: usize| choice.get(place).copied().unwrap_or_default();
    let mut url = || Url::parse(lines.next().unwrap_or_default()).ok().filter(Url::has_host);
    let (Some(url), Some(referer)) = (url(), url()) else { return 0 };
    let identity = &IDENTITIES[pick(0) % IDENTITIES.len()];
    let protocol = [Protocol::Http1, Protocol::Http2][pick(1) >> 7 & 1];
    let given = |(bit, name): (usize, &&'static str)| (pick(1) >> bit & 1 == 1).then(|| (*name, "value".to_owned()));
    let script_headers: Vec<_> = SCRIPT_HEADERS.iter().enumerate().filter_map(given).collect();
    let kind = RequestKind::ALL[pick(2) % RequestKind::ALL.len()];
    let cookies: Vec<String> = lines.filter(|line| !line.contains(['\r', '\0'])).map(str::to_owned).collect();
    let request = Request { script_headers, ..Request::new(kind, url.clone(), referer) };

    let headers = headers::ordered(identity, protocol, &request, &cookies);

    let clean = |text: &str| !text.contains(['\r', '\n', '\0']);
    assert!(headers.fields.iter().all(|(name, value)| clean(name) && clean(value)), "{headers:?}");
    let hosts: Vec<_> = headers.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).collect();
    match protocol {
        Protocol::Http1 => assert!(matches!(&hosts[..], [(_, host)] if host == authority(&url)), "{headers:?}"),
        Protocol::Http2 => assert!(hosts.is_empty(), "{headers:?}"),
    }
    let addresses =
        headers.fields.iter().filter(|(name, _)| ["referer", "origin"].contains(&&*name.to_ascii_lowercase()));
    let tells_login =
        |address: &str| Url::parse(address).is_ok_and(|url| !url.username().is_empty() || url.password().is_some());
    assert!(!addresses.into_iter().any(|(_, address)| tells_login(address)), "credentials are told: {headers:?}");
    // one more cookie, or one more header of the kind, is nothing new: inputs that are kept for it grow and
    // grow
    let (fields, unrecorded) = (headers.fields.len().min(MOST_FIELDS), headers.unrecorded.min(SCRIPT_HEADERS.len()));
    fields as u64 * 1000 + unrecorded as u64 * 10 + u64::from(request.is_same_origin())
}
