//! `Refusal`: how the origin refuses a request, because of a fault or of the proxy that the request came through.
//!
//! In: a proxy of the world. Out: the answer of a refusal, counted.

use std::io;

use http::{Response, StatusCode};

use crate::body::Body;
use crate::reply;
use crate::world::World;

const CHALLENGE: &str = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>\
    <form id=\"challenge-form\" action=\"/cdn-cgi/challenge\" method=\"POST\"></form></body></html>";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 403 with a JSON body.
    Forbidden,
    /// A challenge page in HTML where JSON is due, with 403 or with 200.
    ChallengeForbidden,
    ChallengeOk,
}

impl Refusal {
    pub const ALL: [Refusal; 3] = [Refusal::ChallengeForbidden, Refusal::ChallengeOk, Refusal::Forbidden];
}

/// Waits for as long as an answer takes on its way. Out: the refusal of the proxy, if it is refused. Its 403 is never of JSON,
/// which would be the platform's own word on a key.
pub(crate) async fn of_page(world: &World, proxy: Option<usize>) -> Option<io::Result<Response<Body>>> {
    world.delay().await;
    Some(match of_proxy(world, proxy?)? {
        Refusal::Forbidden => answer(world, Refusal::ChallengeForbidden),
        refusal => answer(world, refusal),
    })
}

/// The refusal of a request because of its proxy.
pub(crate) fn of_proxy(world: &World, proxy: usize) -> Option<Refusal> {
    let refusal = world.proxies[proxy].next_refusal()?;
    world.counters.note_proxy(proxy, |counts| counts.blocked += 1);
    Some(refusal)
}

pub(crate) fn answer(world: &World, refusal: Refusal) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.blocked += 1);
    match refusal {
        Refusal::Forbidden => Ok(reply::error(StatusCode::FORBIDDEN, "Forbidden", "FORBIDDEN")?),
        Refusal::ChallengeForbidden => Ok(reply::plain(StatusCode::FORBIDDEN, "text/html; charset=UTF-8", CHALLENGE)),
        Refusal::ChallengeOk => Ok(reply::plain(StatusCode::OK, "text/html; charset=UTF-8", CHALLENGE)),
    }
}
