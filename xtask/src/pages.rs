//! The pages of the dashboard, as `ui/pages.js` lists them, and its login.

use serde::Deserialize;

const SOURCE: &str = include_str!("../../ui/pages.js");

#[derive(Clone, Debug, Deserialize)]
pub struct Page {
    pub name: String,
    /// `:id` is replaced by a number, here or in `query`. None: below `/admin`, by its name.
    path: Option<String>,
    #[serde(default)]
    query: String,
    /// A list of the API that holds an example of `:id`.
    #[serde(default)]
    pub list: String,
}

impl Page {
    pub fn address(&self, id: &str) -> String {
        let path = self.path.clone().unwrap_or_else(|| format!("/admin/{}", self.name));
        format!("{path}{}", self.query).replace(":id", id)
    }
}

/// Lists the pages in the order of the navigation; the login is the last.
pub fn pages() -> anyhow::Result<Vec<Page>> {
    let (_, array) = SOURCE.split_once("ENTRIES = ").unwrap_or_default();
    let (array, _) = array.split_once(';').unwrap_or_default();
    let mut pages: Vec<Page> = serde_json::from_str(array)?;
    pages.push(Page { name: "login".into(), path: Some("/login".into()), query: String::new(), list: String::new() });
    Ok(pages)
}
