//! Statements of lists that are read in the order of age, with `{direction}` of the order and `{beyond}`, which compares
//! a row with the last one of the page before.

use contract::age_sort::AgeSort;

/// The whole statement.
pub(crate) fn ordered(statement: &str, sort: AgeSort) -> String {
    let (direction, beyond) = match sort {
        AgeSort::Newest => ("DESC", "<"),
        AgeSort::Oldest => ("ASC", ">"),
    };
    statement.replace("{direction}", direction).replace("{beyond}", beyond)
}
