//! [`SqlType`]: the type of the database that a Rust type has as a parameter, for statements that are sent without being
//! prepared.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};

use crate::connection::client::TypedParam;

pub trait SqlType {
    const TYPE: Type;
    /// Type of a list of these values.
    const ARRAY: Type = Type::ANYARRAY;
}

/// The parameter with its type.
pub fn typed<T: SqlType + ToSql + Sync>(value: &T) -> TypedParam<'_> {
    (value, T::TYPE)
}

macro_rules! sql_types {
    ($($rust:ty: $sql:ident, $array:ident;)+) => {$(
        impl SqlType for $rust {
            const TYPE: Type = Type::$sql;
            const ARRAY: Type = Type::$array;
        }
    )+};
}

sql_types! {
    bool: BOOL, BOOL_ARRAY;
    i16: INT2, INT2_ARRAY;
    i32: INT4, INT4_ARRAY;
    i64: INT8, INT8_ARRAY;
    f64: FLOAT8, FLOAT8_ARRAY;
    str: TEXT, TEXT_ARRAY;
    String: TEXT, TEXT_ARRAY;
    DateTime<Utc>: TIMESTAMPTZ, TIMESTAMPTZ_ARRAY;
    NaiveDate: DATE, DATE_ARRAY;
    Value: JSONB, JSONB_ARRAY;
}

impl<T: SqlType + ?Sized> SqlType for &T {
    const TYPE: Type = T::TYPE;
    const ARRAY: Type = T::ARRAY;
}

impl<T: SqlType> SqlType for Option<T> {
    const TYPE: Type = T::TYPE;
    const ARRAY: Type = T::ARRAY;
}

impl<T: SqlType> SqlType for Vec<T> {
    const TYPE: Type = T::ARRAY;
}

impl<T: SqlType> SqlType for [T] {
    const TYPE: Type = T::ARRAY;
}
