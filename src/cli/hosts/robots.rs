//! The part of `drover hosts show` about robots.txt: the host's answer, and the rules that our requests
//! break.

use std::fmt::Write;

use crate::cli::time;
use contract::hosts::{BrokenRule, RobotsListing};

/// Maximum rules that are shown to people; programs get all.
const MAX_SHOWN: usize = 20;

pub fn text(listing: &RobotsListing) -> String {
    let RobotsListing { authority, policy, answered, rules, breaches, .. } = listing;
    let mut text = format!("{authority}/robots.txt ({policy}): {answered}\n");
    // writing to a string cannot fail
    for rule in rules.iter().take(MAX_SHOWN) {
        let _ = writeln!(text, "  {rule}");
    }
    if let Some(more) = rules.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "  … and {more} more");
    }
    for BrokenRule { rule, path, reported_at } in breaches {
        let _ = writeln!(text, "  broken: '{rule}' by {path}, reported {}", time(*reported_at));
    }
    text
}
