//! `Refusal`: how the origin turns somebody away, because of a fault or of the proxy that a request came through.

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
