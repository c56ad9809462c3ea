//! `HandOver`: a value that a run leaves in memory for the chained task that continues in its slot.
//!
//! In: a handler's data. Out: the same, for the handler that knows its type. Everything between the two
//! carries it unopened and must not know its type. It is a shortcut: it is lost with the process, and the
//! chained task must be able to run without it.

use std::any::Any;
use std::fmt;

/// Its content (memory, a permit) is held until it is opened or dropped.
pub struct HandOver(Box<dyn Any + Send>);

impl HandOver {
    pub fn new<T: Send + 'static>(value: T) -> HandOver {
        HandOver(Box::new(value))
    }

    /// None: it holds a value of another type.
    pub fn open<T: 'static>(self) -> Option<T> {
        self.0.downcast().ok().map(|value| *value)
    }
}

impl fmt::Debug for HandOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandOver")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_hand_over_gives_its_value_to_whoever_knows_its_type() {
        assert_eq!(HandOver::new(7_u32).open::<u32>(), Some(7));
        assert_eq!(HandOver::new(7_u32).open::<String>(), None);
    }

    #[test]
    fn a_hand_over_holds_its_value_until_it_is_dropped() {
        let value = Arc::new(());
        let hand_over = HandOver::new(value.clone());
        assert_eq!(Arc::strong_count(&value), 2);
        drop(hand_over);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
