//! The `errors` of a GraphQL answer: which part of the answer they cost.
//!
//! Pure. In: the list as JSON text. Out: nothing, elements of one list, or the whole answer. It must not know the
//! meaning of a code or message.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Raw;
use super::first_of::FirstOf;

/// Maximum number of errors of an answer that is read in spite of them.
const MAX_ERRORS: usize = 50;
/// Maximum bytes of one error's path: names and indices of a few levels.
const MAX_PATH_BYTES: usize = 2000;

#[derive(Debug, PartialEq, Eq)]
pub enum Cost {
    Nothing,
    /// Indices in the list: a field of each of them could not be resolved.
    Elements(BTreeSet<usize>),
    Answer,
}

impl Cost {
    /// The elements to leave out of a list of that length. None = the answer cannot be read: more than half of it failed.
    pub fn failed_of(self, len: usize) -> Option<BTreeSet<usize>> {
        match self {
            Cost::Nothing => Some(BTreeSet::new()),
            Cost::Elements(failed) if 2 * failed.len() <= len => Some(failed),
            Cost::Elements(_) | Cost::Answer => None,
        }
    }
}

/// The cost of `errors`, where `list` is the path of the answer's list.
pub fn cost(errors: Raw<'_>, list: &[&str]) -> Cost {
    let Some(errors) = errors else { return Cost::Nothing };
    let Ok(FirstOf { kept, dropped }) = serde_json::from_str::<FirstOf<'_, MAX_ERRORS>>(errors.get()) else {
        return Cost::Answer;
    };
    if kept.is_empty() {
        return Cost::Nothing;
    }
    let elements: Option<BTreeSet<usize>> = kept.into_iter().map(|error| element(error, list)).collect();
    match elements {
        Some(elements) if dropped == 0 => Cost::Elements(elements),
        _ => Cost::Answer,
    }
}

/// The index in the list of the element that the error is about.
fn element(error: &RawValue, list: &[&str]) -> Option<usize> {
    #[derive(Deserialize)]
    struct Located<'a> {
        #[serde(borrow)]
        path: &'a RawValue,
    }
    let Located { path } = serde_json::from_str(error.get()).ok()?;
    if path.get().len() > MAX_PATH_BYTES {
        return None;
    }
    let path: Vec<Value> = serde_json::from_str(path.get()).ok()?;
    let (of_list, below) = path.split_at_checked(list.len())?;
    let is_of_list = of_list.iter().zip(list).all(|(segment, name)| segment.as_str() == Some(name));
    let index = below.first().filter(|_| is_of_list)?.as_u64()?;
    usize::try_from(index).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn elements(indices: &[usize]) -> Cost {
        Cost::Elements(indices.iter().copied().collect())
    }

    #[rstest]
    #[case::none("[ ]", Cost::Nothing)]
    #[case::a_field(r#"[{"message": "x", "path": ["menu", "products", 3, "brand", "name"]}]"#, elements(&[3]))]
    #[case::an_element(r#"[{"path": ["menu", "products", 0]}]"#, elements(&[0]))]
    #[case::two_of_one(r#"[{"path": ["menu", "products", 4, "a"]}, {"path": ["menu", "products", 4, "b"]}]"#, elements(&[4]))]
    #[case::the_list(r#"[{"path": ["menu", "products"]}]"#, Cost::Answer)]
    #[case::another_list(r#"[{"path": ["menu", "specials", 3]}]"#, Cost::Answer)]
    #[case::without_a_path(r#"[{"message": "x"}]"#, Cost::Answer)]
    #[case::one_without_a_path(r#"[{"path": ["menu", "products", 3]}, {"message": "x"}]"#, Cost::Answer)]
    #[case::no_index(r#"[{"path": ["menu", "products", -1]}]"#, Cost::Answer)]
    #[case::no_list(r#"{"message": "x"}"#, Cost::Answer)]
    #[case::no_objects("[null]", Cost::Answer)]
    fn an_error_costs_the_element_that_it_names(#[case] errors: &str, #[case] expected: Cost) {
        let errors: &RawValue = serde_json::from_str(errors).unwrap();
        assert_eq!(cost(Some(errors), &["menu", "products"]), expected);
    }

    #[rstest]
    #[case::half(elements(&[0, 3]), 4, true)]
    #[case::more_than_half(elements(&[0, 1, 3]), 4, false)]
    #[case::of_no_list(elements(&[0]), 0, false)]
    #[case::none(Cost::Nothing, 0, true)]
    #[case::all(Cost::Answer, 9, false)]
    fn an_answer_of_which_more_than_half_failed_is_not_read(
        #[case] cost: Cost,
        #[case] len: usize,
        #[case] is_read: bool,
    ) {
        assert_eq!(cost.failed_of(len).is_some(), is_read);
    }

    #[test]
    fn many_errors_cost_the_answer() {
        let errors = |count: usize| {
            let error = |index| format!(r#"{{"path": ["products", {index}]}}"#);
            format!("[{}]", (0..count).map(error).collect::<Vec<_>>().join(","))
        };
        let cost = |text: String| cost(Some(serde_json::from_str(&text).unwrap()), &["products"]);
        assert!(matches!(cost(errors(50)), Cost::Elements(indices) if indices.len() == 50));
        assert_eq!(cost(errors(51)), Cost::Answer);
    }
}
