//! Loads the categories by which prices are compared: the shipped `config/categories.toml`, or the operator's.

use domain::menu::category::Categories;

const SHIPPED: &str = include_str!("../../config/categories.toml");

/// `text`: the operator's file. Returns every fault of it at once.
pub fn load(text: Option<&str>) -> Result<Categories, Vec<String>> {
    let table = toml::from_str(text.unwrap_or(SHIPPED)).map_err(|error| vec![error.to_string()])?;
    Categories::new(table)
}
