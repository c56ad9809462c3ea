//! `checked`: the items of a batch, each of them checked.
//!
//! In: the name of the list, its items. Out: all of them, or every fault with its place. It must not know what an item is.

use super::ApiError;

/// `check` gets an item with its place, and returns all of its faults.
pub fn checked<T, U>(
    list: &str,
    given: Vec<T>,
    mut check: impl FnMut(usize, T) -> Result<U, Vec<String>>,
) -> Result<Vec<U>, ApiError> {
    let (mut items, mut faults) = (Vec::new(), Vec::new());
    for (n, item) in given.into_iter().enumerate() {
        match check(n, item) {
            Ok(item) => items.push(item),
            Err(found) => faults.extend(found.into_iter().map(|fault| (format!("{list}[{n}]"), fault))),
        }
    }
    if faults.is_empty() { Ok(items) } else { Err(ApiError::BadFields(faults)) }
}
