//! The header fields of a request under drover's own name: few, in one order, and none that only browsers send.
//!
//! Pure, as its parent.

use super::{Fields, request_value};
use crate::stealth::fingerprint::Protocol;
use crate::stealth::identity::OwnClient;
use crate::stealth::{Request, decode};

/// Names before the headers that the adapter sets, and behind them.
const FIRST: [&str; 5] = ["host", "user-agent", "accept", "accept-language", "accept-encoding"];
const LAST: [&str; 4] = ["content-length", "origin", "referer", "cookie"];

pub(super) fn ordered(own: &OwnClient, protocol: Protocol, request: &Request, cookies: &[String]) -> Fields {
    let set = request.script_headers.iter().map(|(name, _)| name.to_ascii_lowercase());
    let set = set.filter(|name| !FIRST.contains(&name.as_str()) && !LAST.contains(&name.as_str()));
    let names = FIRST.map(str::to_owned).into_iter().chain(set).chain(LAST.map(str::to_owned));
    // HTTP/2 names the host by itself
    let names = names.filter(|name| name != "host" || protocol == Protocol::Http1);
    let fields = names.filter_map(|name| Some((name.clone(), value(own, request, cookies, &name)?)));
    Fields { fields: fields.collect(), unrecorded: 0 }
}

/// None = absent from this request.
fn value(own: &OwnClient, request: &Request, cookies: &[String], name: &str) -> Option<String> {
    match name {
        "user-agent" => Some(own.user_agent.clone()),
        "accept" => Some(request.script_header(name).unwrap_or("*/*").to_owned()),
        "accept-language" => Some(own.accept_language.clone()),
        "accept-encoding" => Some(decode::CODINGS.join(", ")),
        "cookie" => (!cookies.is_empty()).then(|| cookies.join("; ")),
        of_the_request => request_value(request, of_the_request),
    }
}
