//! `Mills`: an upstream price in thousandths of a dollar, so that half cents exist, with its forms in cents
//! and in JSON.

use serde::{Serialize, Serializer};

/// Thousandths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mills(pub(crate) u32);

impl Mills {
    pub(crate) fn of_cents(cents: u32) -> Mills {
        Mills(cents * 10)
    }

    /// The value in a product table: whole cents, halves up.
    pub(crate) fn cents(self) -> i32 {
        (self.0.saturating_add(5) / 10) as i32
    }

    /// A percentage taken off, cut to whole mills.
    pub(crate) fn less(self, percent: u64) -> Mills {
        Mills((u64::from(self.0) * (100 - percent) / 100) as u32)
    }
}

/// Writes the price as upstream does: a JSON number of dollars, without a fraction where there is none.
impl Serialize for Mills {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1000) {
            return serializer.serialize_u32(self.0 / 1000);
        }
        serializer.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_cents_go_up_and_read_as_written() {
        for (mills, cents, json) in
            [(43_000, 4300, "43"), (27_950, 2795, "27.95"), (1005, 101, "1.005"), (12_344, 1234, "12.344")]
        {
            assert_eq!(Mills(mills).cents(), cents);
            assert_eq!(serde_json::to_string(&Mills(mills)).unwrap(), json);
        }
    }
}
