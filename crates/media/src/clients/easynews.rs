//! Easynews' search, which is not documented: each answer is checked, and a strange one is an error.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{MAX_ID, Odd, ReadError, Readable, below, json, name, named};
use foundation::text::bounded;

/// Maximum number of pages of one search.
pub const MAX_PAGES: u32 = 5;
/// Maximum number of files of one page.
pub const MAX_PER_PAGE: u32 = 1_000;

#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    pub query: &'a str,
    /// Extensions without dots, such as `mkv`; empty: all.
    pub extensions: &'a [String],
    /// Number of the page, from 1.
    pub page: u32,
    pub per_page: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Number of files that the whole search found; 0 where the answer does not say it.
    pub results: u64,
    pub files: Vec<File>,
    pub odd: Odd,
    download: Download,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub hash: String,
    pub bytes: u64,
    pub title: String,
    /// Extension with its dot.
    pub extension: String,
    /// Duration in the answer's form, such as `1h:4m:30s`.
    pub duration: Option<String>,
    pub is_infected: bool,
}

/// Parts of the addresses of a page's files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Download {
    base: Url,
    farm: String,
    port: String,
}

pub fn search_url(base: &Url, search: Search<'_>) -> Url {
    let mut url = below(base, &["2.0", "search", "solr-search", "advanced"]);
    url.query_pairs_mut()
        .extend_pairs([
            ("st", "adv"),
            ("sb", "1"),
            ("fty[]", "VIDEO"),
            ("spamf", "1"),
            ("u", "1"),
            ("gx", "1"),
            ("sS", "3"),
        ])
        .append_pair("fex", &search.extensions.join(", "))
        .append_pair("pno", &search.page.max(1).to_string())
        .append_pair("pby", &search.per_page.clamp(1, MAX_PER_PAGE).to_string())
        .extend_pairs([("s1", "dtime"), ("s1d", "-"), ("safeO", "0")])
        .append_pair("gps", search.query);
    url
}

pub fn read(body: &[u8]) -> Result<Page, ReadError> {
    let answer: Answer = json(body)?;
    let rows = match answer.data {
        Some(rows) => rows,
        None if answer.results.as_u64() == Some(0) => Vec::new(),
        None => return Err(ReadError::strange("data", "is missing")),
    };
    let base: Option<Url> = answer.down_url.parse().ok();
    let base = base.filter(|base| matches!(base.scheme(), "http" | "https"));
    let base = base.ok_or_else(|| ReadError::strange("downURL", "is not a web address"))?;
    let port = text(&answer.dl_port).filter(|port| !port.is_empty());
    let port = port.ok_or_else(|| ReadError::strange("dlPort", "is missing"))?;
    let farm = text(&answer.dl_farm).ok_or_else(|| ReadError::strange("dlFarm", "is missing"))?;
    let download = Download { base, farm, port };
    let Readable { elements: files, odd } = Readable::of(&rows, |row, _| file(row).map(Some))?;
    Ok(Page { results: answer.results.as_u64().unwrap_or_default(), files, odd, download })
}

impl Page {
    /// The address of one of its files. Its origin may be another than that of the search.
    pub fn file_url(&self, file: &File) -> Url {
        let Download { base, farm, port } = &self.download;
        let (stored, shown) = (format!("{}{}", file.hash, file.extension), format!("{}{}", file.title, file.extension));
        below(base, &[farm, port, &stored, &shown])
    }

    /// Whether the page after this one, of number `page`, is worth asking for. `seen`: hashes of the
    /// pages before.
    pub fn goes_on(&self, page: u32, seen: &HashSet<String>) -> bool {
        let Some(first) = self.files.first() else { return false };
        page < MAX_PAGES && !seen.contains(&first.hash)
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Option<Vec<Value>>,
    #[serde(default)]
    results: Value,
    #[serde(rename = "downURL")]
    down_url: String,
    #[serde(rename = "dlFarm")]
    dl_farm: Value,
    #[serde(rename = "dlPort")]
    dl_port: Value,
}

fn file(row: &Value) -> Result<File, ReadError> {
    let strange = |field: &str, fault: String| {
        ReadError::strange(format!("data[].{field:?} of {}", named("file", row, "0")), fault)
    };
    let required = |field: &str| {
        let value = text(&row[field]).filter(|value| !value.is_empty());
        value.ok_or_else(|| strange(field, "is missing".to_owned()))
    };
    let (hash, extension) = (required("0")?, required("11")?);
    if hash.len() > MAX_ID || !hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(strange("0", "is not a hash".to_owned()));
    }
    let bytes = required("rawSize")?;
    let bytes = bytes.parse().map_err(|error| {
        let shown = bounded(&bytes, MAX_ID);
        strange("rawSize", format!("{shown:?}: {error}"))
    })?;
    Ok(File {
        hash,
        bytes,
        title: name(&required("10")?),
        extension: bounded(&extension, MAX_ID),
        duration: text(&row["14"]).map(|text| bounded(&text, MAX_ID)).filter(|duration| !duration.is_empty()),
        is_infected: row["virus"].as_bool().ok_or_else(|| strange("virus", "is not yes or no".to_owned()))?,
    })
}

/// A text, or a number as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn answer(files: &[Value]) -> Value {
        json!({"data": files, "results": files.len(), "downURL": "https://members.example/dl", "dlFarm": "auto", "dlPort": 443})
    }

    fn row(hash: &str) -> Value {
        json!({"0": hash, "4": "1.2 GB", "10": "A film/2026 ä", "11": ".mkv", "14": "1h:4m:30s", "rawSize": 1288490189_u64, "virus": false})
    }

    fn page(files: &[Value]) -> Page {
        read(answer(files).to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_files_address_is_made_of_its_hash_and_title() {
        let page = page(&[row("abc123")]);
        assert_eq!((page.results, page.files[0].bytes), (1, 1_288_490_189));
        let url = page.file_url(&page.files[0]);
        assert_eq!(url.as_str(), "https://members.example/dl/auto/443/abc123.mkv/A%20film%2F2026%20%C3%A4.mkv");
    }

    #[test]
    fn a_search_ends_at_an_empty_page_a_known_hash_and_the_last_page() {
        let seen = HashSet::from(["known".to_owned()]);
        assert!(page(&[row("fresh")]).goes_on(1, &seen));
        assert!(!page(&[]).goes_on(1, &seen));
        assert!(!page(&[row("known"), row("fresh")]).goes_on(2, &seen));
        assert!(!page(&[row("fresh")]).goes_on(MAX_PAGES, &seen));
    }

    #[rstest]
    #[case::an_error(json!({"error": "denied"}), "missing field")]
    #[case::no_rows_of_some(json!({"data": null, "results": 5, "downURL": "http://x", "dlFarm": "", "dlPort": 1}), "data is missing")]
    #[case::no_hash(answer(&[json!({"10": "x"})]), "data[].\"0\" of a file without 0 is missing")]
    #[case::a_path_for_a_hash(answer(&[row("../../etc")]), "is not a hash")]
    #[case::no_size(answer(&[json!({"0": "a", "10": "t", "11": ".mkv", "rawSize": "big"})]), "rawSize")]
    #[case::no_address(json!({"data": [], "results": 0, "downURL": "dl", "dlFarm": "", "dlPort": 1}), "downURL is not")]
    #[case::a_mail_address(json!({"data": [], "results": 0, "downURL": "mailto:x", "dlFarm": "", "dlPort": 1}), "downURL is not")]
    #[case::no_port(json!({"data": [], "results": 0, "downURL": "http://x", "dlFarm": "", "dlPort": null}), "dlPort is missing")]
    #[case::no_scan(answer(&[json!({"0": "a", "10": "t", "11": ".mkv", "rawSize": 1})]), "virus")]
    fn a_new_shape_is_named(#[case] body: Value, #[case] says: &str) {
        let error = read(body.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    /// The row of the file `odd` with these fields in place of its own.
    fn changed(changes: Value) -> Value {
        let mut row = row("odd");
        for (name, value) in changes.as_object().unwrap() {
            row[name] = value.clone();
        }
        row
    }

    #[rstest]
    #[case::no_extension(changed(json!({"11": null})), "\"11\" of file \"odd\" is missing")]
    #[case::an_empty_extension(changed(json!({"11": ""})), "\"11\" of file \"odd\" is missing")]
    #[case::no_title(changed(json!({"10": []})), "\"10\" of file \"odd\" is missing")]
    #[case::no_hash(changed(json!({"0": null})), "of a file without 0 is missing")]
    #[case::no_size(changed(json!({"rawSize": null})), "rawSize")]
    #[case::a_negative_size(changed(json!({"rawSize": -1})), "rawSize")]
    #[case::a_huge_size(changed(json!({"rawSize": 1e40})), "rawSize")]
    #[case::no_scan(changed(json!({"virus": "no"})), "virus")]
    #[case::nothing(Value::Null, "without 0")]
    #[case::a_text(json!("x"), "without 0")]
    fn an_odd_row_costs_itself_alone(#[case] odd: Value, #[case] name: &str) {
        let page = page(&[row("a"), odd, row("b")]);
        let hashes: Vec<&str> = page.files.iter().map(|file| file.hash.as_str()).collect();
        assert_eq!((hashes.as_slice(), page.odd.count), (&["a", "b"][..], 1));
        assert!(page.odd.names[0].contains(name), "{:?}", page.odd.names);
    }

    #[rstest]
    #[case::no_number(json!({"results": "many", "dlFarm": "auto"}))]
    #[case::no_farm_but_a_number(json!({"results": null, "dlFarm": 7}))]
    fn an_odd_field_beside_the_rows_costs_none_of_them(#[case] changes: Value) {
        let mut body = answer(&[row("a")]);
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        assert_eq!(read(body.to_string().as_bytes()).unwrap().files.len(), 1);
    }

    #[test]
    fn a_search_without_results_may_have_no_list_of_them() {
        let mut body = answer(&[]);
        body["data"] = Value::Null;
        assert_eq!(read(body.to_string().as_bytes()).unwrap().files, []);
    }

    #[test]
    fn the_query_is_encoded() {
        let extensions = ["mkv".to_owned(), "mp4".to_owned()];
        let search = Search { query: "a & b=c", extensions: &extensions, page: 2, per_page: 5_000 };
        let url = search_url(&"https://members.easynews.com".parse().unwrap(), search);
        assert!(
            url.as_str().starts_with("https://members.easynews.com/2.0/search/solr-search/advanced?st=adv"),
            "{url}"
        );
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        for (name, value) in
            [("gps", "a & b=c"), ("fex", "mkv, mp4"), ("pno", "2"), ("pby", "1000"), ("fty[]", "VIDEO")]
        {
            assert!(pairs.contains(&(name.to_owned(), value.to_owned())), "{name}: {pairs:?}");
        }
    }
}
