//! Words of streets and their abbreviations, as the Postal Service writes them (Publication 28). In: a word of a street, in lower
//! case. Out: its short form.

/// Kinds of streets, with the ways to write them.
const KINDS: [(&str, &[&str]); 27] = [
    ("aly", &["alley"]),
    ("ave", &["av", "aven", "avenue", "avn"]),
    ("blvd", &["boul", "boulevard", "boulv", "bld"]),
    ("cir", &["circ", "circle"]),
    ("cres", &["crescent"]),
    ("ct", &["court", "crt"]),
    ("ctr", &["center", "centre", "cntr"]),
    ("cv", &["cove"]),
    ("dr", &["drive", "drv"]),
    ("expy", &["expressway"]),
    ("fwy", &["freeway"]),
    ("hwy", &["highway", "hiway", "hway"]),
    ("ln", &["lane"]),
    ("loop", &[]),
    ("mall", &[]),
    ("pike", &[]),
    ("pkwy", &["parkway", "parkwy", "pky", "pkway"]),
    ("pl", &["place"]),
    ("plz", &["plaza", "plza"]),
    ("rd", &["road"]),
    ("row", &[]),
    ("sq", &["square", "sqr"]),
    ("st", &["str", "street", "strt"]),
    ("ter", &["terr", "terrace"]),
    ("tpke", &["trnpk", "turnpike", "turnpk"]),
    ("trl", &["trail", "tr"]),
    ("way", &["wy"]),
];

const DIRECTIONS: [(&str, &[&str]); 8] = [
    ("n", &["north", "no"]),
    ("e", &["east"]),
    ("s", &["south", "so"]),
    ("w", &["west"]),
    ("ne", &["northeast"]),
    ("nw", &["northwest"]),
    ("se", &["southeast"]),
    ("sw", &["southwest"]),
];

/// Other words of streets.
const OTHERS: [(&str, &[&str]); 15] = [
    ("1", &["first"]),
    ("2", &["second"]),
    ("3", &["third"]),
    ("4", &["fourth"]),
    ("5", &["fifth"]),
    ("6", &["sixth"]),
    ("7", &["seventh"]),
    ("8", &["eighth"]),
    ("9", &["ninth"]),
    ("10", &["tenth"]),
    ("ft", &["fort"]),
    ("hwy", &["route", "rt", "rte", "sr"]),
    ("mt", &["mount"]),
    ("st", &["saint"]),
    ("martinlutherking", &["mlk"]),
];

pub(super) fn kind(word: &str) -> Option<&'static str> {
    short(&KINDS, word)
}

pub(super) fn direction(word: &str) -> Option<&'static str> {
    short(&DIRECTIONS, word)
}

pub(super) fn other(word: &str) -> Option<&'static str> {
    short(&OTHERS, word)
}

fn short(table: &[(&'static str, &[&str])], word: &str) -> Option<&'static str> {
    table.iter().find(|(short, long)| *short == word || long.contains(&word)).map(|(short, _)| *short)
}
