//! Values by name: a statement's file says `$store`, and Rust gives `store = …`, in any order.
//!
//! ```text
//! named!(client.query("tasks/jobs/list.sql", id, state = state.name(), limit))
//! ```
//!
//! The compiler writes the numbers that the server wants ([`numbered`](mod@super::numbered)): a name without a value, a value
//! without a use and two values of one name are compile errors, and a call costs no more than one with numbers.

use crate::connection::client::TypedParam;

/// Values that several statements share, such as those of a filter. [`named_values!`] implements it.
pub trait NamedValues {
    const NAMES: &'static [&'static str];

    /// Values in the order of the names.
    fn values(&self) -> Vec<TypedParam<'_>>;
}

/// Calls a method of a `Client` with a statement from a file and its values:
///
/// ```text
/// named!(tx.execute("hosts/robots/store.sql", authority, rules = answer.rules(), why))
/// named!(client.query_planned("stores/bulk/targets.sql", ids = request.ids, ..FilterValues::of(filter)))
/// named!(client.query(by_age("access/audit_log/list.sql", filter.sort), who = filter.who, limit))
/// ```
///
/// A name alone is the value of the variable. `..` adds [`NamedValues`]. `by_age` writes an order for `{direction}`, and
/// for `{beyond}`, which compares a row with the last one of the page before. `query_planned` and `query_typed` give the
/// server the type of each value; without a client, the result is the text and these values.
macro_rules! named {
    (@value $name:ident) => { $name };
    (@value $name:ident = $value:expr) => { $value };
    (@text [$file:literal] $names:tt) => {
        $crate::statements::numbered!($file, None, $names)
    };
    (@text [$file:literal, $sort:expr] $names:tt) => {
        match $sort {
            contract::age_sort::AgeSort::Newest => {
                $crate::statements::numbered!($file, Some(contract::age_sort::AgeSort::Newest), $names)
            }
            contract::age_sort::AgeSort::Oldest => {
                $crate::statements::numbered!($file, Some(contract::age_sort::AgeSort::Oldest), $names)
            }
        }
    };
    (@typed $client:ident.$method:ident $file:tt [$($name:ident $(= $value:expr)?),*] [$($group:ident $make:ident $from:tt)?]) => {
        $client.$method(
            $crate::statements::named!(@text $file [&[$(stringify!($name)),*] $(, <$group<'_> as $crate::statements::NamedValues>::NAMES)?]),
            &[
                &[$($crate::statements::typed(&$crate::statements::named!(@value $name $(= $value)?))),*][..],
                $(&$crate::statements::NamedValues::values(&$group::$make $from)[..])?
            ]
            .concat(),
        )
    };
    (@call $client:ident.query_planned $($rest:tt)*) => {
        $crate::statements::named!(@typed $client.query_planned $($rest)*)
    };
    (@call $client:ident.query_typed $($rest:tt)*) => {
        $crate::statements::named!(@typed $client.query_typed $($rest)*)
    };
    (@call $client:ident.$method:ident $file:tt [$($name:ident $(= $value:expr)?),*] []) => {
        $client.$method(
            $crate::statements::named!(@text $file [&[$(stringify!($name)),*]]),
            &[$(&$crate::statements::named!(@value $name $(= $value)?)),*],
        )
    };
    ($client:ident.$method:ident(
        by_age($file:literal, $sort:expr)
        $(, $name:ident $(= $value:expr)?)* $(, ..$group:ident::$make:ident $from:tt)? $(,)?
    )) => {
        $crate::statements::named!(
            @call $client.$method [$file, $sort] [$($name $(= $value)?),*] [$($group $make $from)?]
        )
    };
    ($client:ident.$method:ident(
        $file:literal
        $(, $name:ident $(= $value:expr)?)* $(, ..$group:ident::$make:ident $from:tt)? $(,)?
    )) => {
        $crate::statements::named!(@call $client.$method [$file] [$($name $(= $value)?),*] [$($group $make $from)?])
    };
    ($file:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        (
            $crate::statements::named!(@text [$file] [&[$(stringify!($name)),*]]),
            [$($crate::statements::typed(&$crate::statements::named!(@value $name $(= $value)?))),*],
        )
    };
}

/// Implements [`NamedValues`]. Its arguments: a name for the struct, its type, and each value:
///
/// ```text
/// named_values! { filter: FilterValues<'_>; state = filter.state, platform = filter.platform }
/// ```
macro_rules! named_values {
    ($me:ident: $type:ty; $($name:ident = $value:expr),+ $(,)?) => {
        impl $crate::statements::NamedValues for $type {
            const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            fn values(&self) -> Vec<$crate::connection::client::TypedParam<'_>> {
                let $me = self;
                vec![$($crate::statements::typed(&$value)),+]
            }
        }
    };
}

pub(crate) use {named, named_values};
