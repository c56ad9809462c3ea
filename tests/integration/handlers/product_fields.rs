//! The fields of a product that the normaliser reads, for tests that put anything into them.

use std::sync::LazyLock;

/// Fields in the shipped text of the menu's query, except the ones that say which product of which store it is; a unit test
/// holds that text to what is read.
pub static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let shipped = include_str!("../../../src/platforms/dutchie/data.toml");
    let (_, asked) = shipped.split_once("products {").unwrap();
    let (mut fields, mut depth) = (Vec::new(), 0);
    for word in asked.split_whitespace() {
        match word {
            "{" => depth += 1,
            "}" if depth == 0 => return fields,
            "}" => depth -= 1,
            "_id" | "id" | "DispensaryID" => {}
            field if depth == 0 => fields.push(field),
            _ => {}
        }
    }
    panic!("the list of fields has no end")
});
