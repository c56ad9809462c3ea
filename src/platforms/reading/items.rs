//! The items of a menu's answer as products; one that cannot be read spoils nothing but itself.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Raw;
use super::first_of::FirstOf;
use super::reader::{self, Reader};
use domain::menu::product::Product;
use domain::menu::{NormalPage, NormaliseError, Warning};

/// Declares a JSON object of which each field is kept as raw JSON text; one that is missing or null is none.
macro_rules! raw_object {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident,)+ }) => {
        #[derive(Default, serde::Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        $(#[$meta])*
        pub struct $name<'a> {
            $($(#[$field_meta])* pub $field: $crate::platforms::reading::Raw<'a>,)+
        }
    };
}

pub(crate) use raw_object;

/// An item as it comes, whose fields are raw JSON text.
pub trait WireItem<'a>: Deserialize<'a> {
    fn id(&self) -> Raw<'a>;

    /// The item's id where the first one could be no key.
    fn other_id(&self) -> Raw<'a> {
        None
    }

    fn name(&self) -> Raw<'a>;
}

/// Reads a whole answer; `number` names it in errors.
pub fn answer<'a, A: Deserialize<'a>>(number: usize, text: &'a str) -> Result<A, NormaliseError> {
    serde_json::from_str(text).map_err(|error| match error.is_eof() {
        true => NormaliseError::Truncated { page: number },
        false => NormaliseError::NotAMenu { page: number, why: error.to_string() },
    })
}

/// Items that can be read, and warnings of the others. An answer with more than `MAX` of them is not a menu.
pub fn readable<'a, T: WireItem<'a>, const MAX: usize>(
    number: usize,
    items: Option<FirstOf<'a, MAX>>,
    page: &mut NormalPage,
) -> Result<Vec<(String, T)>, NormaliseError> {
    let not_a_menu = |why: String| NormaliseError::NotAMenu { page: number, why };
    let items = items.ok_or_else(|| not_a_menu("no items in it".to_owned()))?;
    if items.dropped > 0 {
        return Err(not_a_menu(format!("more than {MAX} products on one page")));
    }
    let read: Vec<(String, T)> = items.kept.iter().copied().filter_map(item).collect();
    for _ in read.len()..items.kept.len() {
        page.warnings.push(unreadable("no product with an id"));
    }
    Ok(read)
}

/// The warning of an item that cannot be read.
pub fn unreadable(detail: &str) -> Warning {
    Warning { provider_product_id: None, kind: "unreadable_item", detail: detail.to_owned() }
}

/// An item with its id. None if it is not an object, or has no id that could be a key.
pub fn item<'a, T: WireItem<'a>>(raw: &'a RawValue) -> Option<(String, T)> {
    let text = raw.get();
    // a list would be read as an object's fields in order
    let item: T = if text.starts_with('{') { serde_json::from_str(text).ok()? } else { return None };
    let id = [item.id(), item.other_id()].into_iter().find_map(reader::key_text)?;
    Some((id, item))
}

/// Adds the product of each item.
pub fn add<'a, T: WireItem<'a>>(
    page: &mut NormalPage,
    items: Vec<(String, T)>,
    product: impl Fn(&T, &mut Reader<'_>) -> Product,
) -> Result<(), NormaliseError> {
    items.into_iter().try_for_each(|(id, item)| add_one(page, id, &item, &product))
}

/// Adds the product of one item.
pub fn add_one<'a, T: WireItem<'a>>(
    page: &mut NormalPage,
    id: String,
    item: &T,
    product: impl Fn(&T, &mut Reader<'_>) -> Product,
) -> Result<(), NormaliseError> {
    let mut read = Reader::new(&id, &mut page.warnings);
    let name_raw = name(item, &mut read).unwrap_or_else(|| id.clone());
    let product = product(item, &mut read);
    let has_unknown_unit = read.has_unknown_unit();
    page.push(Product { name_raw, has_unknown_unit, provider_product_id: id, ..product })
}

/// The item's name; one without it is reported.
pub fn name<'a>(item: &impl WireItem<'a>, read: &mut Reader<'_>) -> Option<String> {
    let name = read.text(item.name(), "name");
    if name.is_none() {
        read.warn("no_name", "no name");
    }
    name
}
