//! `for_each_platform!`: the one list of menu platforms, from which all others are made.
//!
//! In: a macro. Out: its expansion with the variant of [`Platform`](crate::store::Platform) and the folder in `src/platforms/`
//! of each platform. A folder that is missing does not compile.

/// Expands `$make! { Variant = folder, … }`; the folder's name is the platform's word in the database and in JSON.
#[macro_export]
macro_rules! for_each_platform {
    ($make:ident) => {
        $make! {
            Dutchie = dutchie,
            DutchiePlus = dutchie_plus,
            Jane = jane,
            Weedmaps = weedmaps,
            Leafly = leafly,
        }
    };
}

pub use for_each_platform;
