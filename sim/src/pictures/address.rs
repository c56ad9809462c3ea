//! `Address`: the path of a picture, `/dutchie-images/<32 hex digits>`; where redirects lead, the number of
//! each follows.

use std::fmt;

pub(crate) const PATH: &str = "/dutchie-images/";
const DIGITS: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) hash: u128,
    /// Redirects behind it; products and brands name 0.
    pub(crate) hop: u8,
}

impl Address {
    /// Only one text is the address of a picture: with small digits, without leading zeros in the hop.
    pub(crate) fn of_path(path: &str) -> Option<Address> {
        let rest = path.strip_prefix(PATH)?;
        let hash = u128::from_str_radix(rest.get(..DIGITS)?, 16).ok()?;
        let hop = rest[DIGITS..].strip_prefix('/').map_or(Some(0), |hop| hop.parse().ok())?;
        let address = Address { hash, hop };
        (address.to_string() == path).then_some(address)
    }

    pub(crate) fn with_hop(self, hop: u8) -> Address {
        Address { hop, ..self }
    }

    /// A reference to `next` that a client resolves against this address.
    pub(crate) fn relative(self, next: Address) -> String {
        match (self.hop, next.hop) {
            (0, 0) => format!("{:032x}", next.hash),
            (0, hop) => format!("{:032x}/{hop}", next.hash),
            (_, 0) => format!("../{:032x}", next.hash),
            (_, hop) => hop.to_string(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PATH}{:032x}", self.hash)?;
        if self.hop == 0 { Ok(()) } else { write!(f, "/{}", self.hop) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written_and_in_no_other_form() {
        for address in [Address { hash: 7, hop: 0 }, Address { hash: u128::MAX, hop: 3 }] {
            assert_eq!(Address::of_path(&address.to_string()), Some(address));
        }
        let digits = "0".repeat(DIGITS);
        for tail in ["0", "/", "/0", "/03", "/x", "?w=1"] {
            assert_eq!(Address::of_path(&format!("{PATH}{digits}{tail}")), None, "{tail}");
        }
        assert_eq!(Address::of_path(&format!("{PATH}{}", "A".repeat(DIGITS))), None);
        assert_eq!(Address::of_path(&format!("{PATH}é")), None);
    }
}
