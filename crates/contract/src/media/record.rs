//! `record!` declares a kind of record: its row, the draft of a new one and the change of one.
//!
//! In: the fields of the three. Out: their structs, with what the structs of all kinds have in common. How fields
//! are checked is the kind's own.

/// Makes the structs of a kind. A field has its texts and attributes as in a struct, and is public:
///
/// ```text
/// record! {
///     Accounts: Account {         // the row, as shown to users; its `id` is not listed
///         username: String,
///     }
///     draft AccountDraft {        // a new one
///         username: String,
///     }
///     change AccountChange {      // a field that is not given stays as it is
///         enabled: bool,
///         url: Option<String>,    // null takes the value away
///     }
/// }
/// ```
///
/// `check_not_empty` of a change refuses one without a field.
macro_rules! record {
    (
        $kind:ident: $record:ident { $($(#[$($row:tt)*])* $field:ident: $type:ty,)+ }
        draft $draft:ident { $($(#[$($new:tt)*])* $given:ident: $given_type:ty,)+ }
        $(#[$($about:tt)*])*
        change $change:ident { $($set:tt)+ }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub struct $record {
            pub id: i64,
            $($(#[$($row)*])* pub $field: $type,)+
        }

        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $draft {
            $($(#[$($new)*])* pub $given: $given_type,)+
        }

        $crate::media::record::record! { @change [$(#[$($about)*])* $change] [] [] $($set)+ }

        impl $crate::media::Record for $record {
            const KIND: $crate::media::RecordKind = $crate::media::RecordKind::$kind;
            type Draft = $draft;
            type Change = $change;

            fn id(&self) -> i64 {
                self.id
            }
        }
    };

    // a change's fields, taken one by one: an Option first, then any other type; at the end the struct
    (@change $head:tt [$($name:ident)*] [$($fields:tt)*]
     $(#[$($about:tt)*])* $field:ident: Option<$type:ty>, $($rest:tt)*) => {
        $crate::media::record::record! {
            @change $head [$($name)* $field] [
                $($fields)*
                $(#[$($about)*])*
                #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "crate::checks::present")]
                #[schema(value_type = Option<$type>)]
                pub $field: Option<Option<$type>>,
            ] $($rest)*
        }
    };
    (@change $head:tt [$($name:ident)*] [$($fields:tt)*]
     $(#[$($about:tt)*])* $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::media::record::record! {
            @change $head [$($name)* $field] [
                $($fields)*
                $(#[$($about)*])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            ] $($rest)*
        }
    };
    (@change [$(#[$($about:tt)*])* $change:ident] [$($name:ident)+] [$($fields:tt)+]) => {
        $(#[$($about)*])*
        #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(default, deny_unknown_fields)]
        #[schema(min_properties = 1)]
        pub struct $change {
            $($fields)+
        }

        impl $change {
            /// The refusal of a change without a field names `field`.
            fn check_not_empty(&self, field: &'static str) -> Result<(), $crate::checks::BadField> {
                match [$(self.$name.is_some()),+].contains(&true) {
                    true => Ok(()),
                    false => Err($crate::checks::bad(field, "missing: give at least one field to change")),
                }
            }
        }
    };
}

pub(super) use record;
