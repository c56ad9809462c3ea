//! `Micros`: a time as the server sends it. Reading it never fails, also for times that no calendar in Rust has, and it
//! is faster than a date.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::sql_type::SqlType;

/// Microseconds from 1970, from where Rust counts, to 2000, from where the server counts.
const EPOCH: i64 = 946_684_800_000_000;

/// Microseconds of UTC since 2000; the ends of the range are infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(i64);

impl Micros {
    /// Microseconds of UTC since 1970.
    pub fn since_1970(self) -> i64 {
        self.0.saturating_add(EPOCH)
    }
}

impl<'a> FromSql<'a> for Micros {
    fn from_sql(type_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        // int8 has the same form on the wire
        i64::from_sql(type_, raw).map(Micros)
    }

    fn accepts(type_: &Type) -> bool {
        *type_ == Type::TIMESTAMPTZ
    }
}

impl ToSql for Micros {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i64(self.0);
        Ok(IsNull::No)
    }

    fn accepts(type_: &Type) -> bool {
        *type_ == Type::TIMESTAMPTZ
    }

    to_sql_checked!();
}

impl SqlType for Micros {
    const TYPE: Type = Type::TIMESTAMPTZ;
    const ARRAY: Type = Type::TIMESTAMPTZ_ARRAY;
}
