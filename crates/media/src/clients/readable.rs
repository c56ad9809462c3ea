//! `Readable`: the elements of an answer that can be read, and the names of the others.
//!
//! In: elements, and a reader of one. Out: all that can be read. An odd element costs itself alone; where none can be read,
//! the service has another shape, which is an error. It must not know what the elements are.

use super::ReadError;
use foundation::text::bounded;

/// Maximum number of odd elements that are named, and of bytes of a name.
const MAX_NAMED: usize = 10;
const MAX_NAME: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readable<T> {
    pub elements: Vec<T>,
    pub odd: Odd,
}

/// Elements that cannot be read, or of which a part cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Odd {
    pub count: usize,
    /// The first ones, each with its field and its fault.
    pub names: Vec<String>,
}

impl<T> Readable<T> {
    /// `read` gives none for an element that is left out on purpose, and notes a part that it leaves out.
    pub(super) fn of<E>(
        elements: impl IntoIterator<Item = E>,
        mut read: impl FnMut(E, &mut Odd) -> Result<Option<T>, ReadError>,
    ) -> Result<Readable<T>, ReadError> {
        let mut readable = Readable { elements: Vec::new(), odd: Odd::default() };
        let mut first = None;
        for element in elements {
            match read(element, &mut readable.odd) {
                Ok(found) => readable.elements.extend(found),
                Err(error) => {
                    readable.odd.note(&error);
                    first = first.or(Some(error));
                }
            }
        }
        match first {
            Some(error) if readable.elements.is_empty() => Err(error),
            _ => Ok(readable),
        }
    }
}

impl Odd {
    pub(super) fn note(&mut self, fault: &ReadError) {
        self.name(&fault.of_element());
    }

    /// Counts an element, by a name with its fault.
    pub fn name(&mut self, name: &str) {
        self.count += 1;
        if self.names.len() < MAX_NAMED {
            self.names.push(bounded(name, MAX_NAME));
        }
    }

    /// Adds those of another answer.
    pub fn add(&mut self, other: Odd) {
        self.count += other.count;
        let room = MAX_NAMED.saturating_sub(self.names.len());
        self.names.extend(other.names.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// 0: hard to read. 1: a part cannot be read. 2: left out on purpose.
    fn read(elements: &[u8]) -> Result<(usize, usize), String> {
        let read = Readable::of(elements, |element, odd| match element {
            0 => Err(ReadError::strange("a", "is missing")),
            1 => {
                odd.note(&ReadError::strange("b", "is missing"));
                Ok(Some(()))
            }
            2 => Ok(None),
            _ => Ok(Some(())),
        });
        let read = read.map(|readable| (readable.elements.len(), readable.odd.count));
        read.map_err(|error| error.to_string())
    }

    #[rstest]
    #[case::none(&[], Ok((0, 0)))]
    #[case::one_of_three(&[9, 0, 9], Ok((2, 1)))]
    #[case::a_part(&[1], Ok((1, 1)))]
    #[case::left_out(&[2], Ok((0, 0)))]
    #[case::left_out_beside_others(&[2, 9], Ok((1, 0)))]
    #[case::all(&[0, 0], Err("a is missing"))]
    #[case::all_that_are_not_left_out(&[0, 2], Err("a is missing"))]
    #[case::one_in_part_and_one_whole(&[0, 1], Ok((1, 2)))]
    fn an_odd_element_costs_itself_alone(#[case] elements: &[u8], #[case] expected: Result<(usize, usize), &str>) {
        let read = read(elements);
        match expected {
            Ok(counts) => assert_eq!(read, Ok(counts)),
            Err(says) => assert!(read.unwrap_err().contains(says)),
        }
    }

    #[test]
    fn names_are_bounded() {
        let elements = std::iter::repeat_n(0, 50).chain([9]);
        let readable = Readable::of(elements, |element, _| match element {
            0 => Err(ReadError::strange("x".repeat(1_000), "is missing")),
            _ => Ok(Some(())),
        })
        .unwrap();
        assert_eq!((readable.odd.count, readable.odd.names.len()), (50, MAX_NAMED));
        assert!(readable.odd.names.iter().all(|name| name.len() <= MAX_NAME));
    }
}
