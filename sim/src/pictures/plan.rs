//! `Plan`: all that is settled about the answer to an address, from the seed and the address alone.

use super::address::Address;
use super::content::Content;
use super::kind::PictureKind;
use crate::draw::{Draw, Topic};

/// Subject of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Subject {
    Product,
    Logo,
}

pub(crate) struct Plan {
    pub(crate) kind: PictureKind,
    /// The good picture that it is, or is made from.
    pub(crate) content: Content,
    /// Numbers for other differences between two of a kind.
    pub(crate) look: Draw,
    /// Redirects before the answer; a circle has none.
    redirects: u8,
    is_circle: bool,
}

impl Plan {
    pub(crate) fn of(seed: u64, subject: Subject, hash: u128) -> Plan {
        let mut draw = Draw::of(seed, Topic::Photo, &[(hash >> 64) as u64, hash as u64]);
        let kind = PictureKind::draw(&mut draw);
        let content = Content::draw(&mut draw, subject, kind);
        let (short, long, is_circle) = (draw.between(1, 3) as u8, draw.between(4, 5) as u8, draw.percent(50));
        let redirects = match kind {
            PictureKind::Redirected => short,
            PictureKind::EndlessRedirects => long,
            PictureKind::OtherHost => 1,
            _ => 0,
        };
        Plan { kind, content, look: draw, redirects, is_circle: is_circle && kind == PictureKind::EndlessRedirects }
    }

    /// Target of the redirect at `address`; none = an answer is there.
    pub(crate) fn next(&self, address: Address) -> Option<Address> {
        match address.hop {
            1.. if self.is_circle => Some(address.with_hop(0)),
            hop if hop < self.redirects => Some(address.with_hop(hop + 1)),
            _ => None,
        }
    }

    /// No redirect leads further than the last of them.
    pub(crate) fn has(&self, address: Address) -> bool {
        address.hop <= self.redirects
    }
}
