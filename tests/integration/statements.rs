//! Every statement, from a file under `crates/db/src/sql` or made from columns, fits the schema: a typing error must
//! not wait for its first use.

use std::path::{Path, PathBuf};

use tokio_postgres::types::Type;

/// Not statements of drover's own tables: they run before there are any, in pieces.
const WITHOUT_SCHEMA: [&str; 1] = ["migrate/bookkeeping.sql"];
/// Parts of other statements, which have `{filters}` and `{columns}` in their place.
const FILTERS: &str = "task_views/filters.sql";
const COLUMNS: &str = "task_views/columns.sql";
/// The same, with `{store_filters}`.
const STORE_FILTERS: &str = "store_views/filters.sql";
/// The beginning and the end of other statements.
const LISTED: &str = "product_search/listed.sql";
const FOUND: &str = "product_search/found.sql";
const WITH_LISTED: [&str; 2] = ["product_search/scan.sql", "product_search/walk.sql"];
const WITH_LISTED_AND_FOUND: [&str; 3] =
    ["product_search/by_corrections.sql", "product_search/by_trigrams.sql", "product_search/by_words.sql"];

/// The types that the program gives with a statement's parameters where its text does not say them.
fn types_of(name: &str) -> &'static [Type] {
    match name {
        "payload_views/list.sql" => {
            &[Type::INT8, Type::TEXT, Type::TIMESTAMPTZ, Type::TIMESTAMPTZ, Type::TIMESTAMPTZ, Type::INT8, Type::INT8]
        }
        "product_views/of_store.sql" => &[
            Type::INT8,
            Type::TEXT,
            Type::TEXT,
            Type::BOOL,
            Type::BOOL,
            Type::INT4,
            Type::INT4,
            Type::TEXT,
            Type::TEXT,
            Type::INT8,
            Type::TEXT,
            Type::INT8,
            Type::INT8,
        ],
        "visitors/list.sql" => {
            &[Type::TIMESTAMPTZ, Type::TIMESTAMPTZ, Type::TEXT, Type::TIMESTAMPTZ, Type::TEXT, Type::TEXT, Type::INT8]
        }
        "store_views/list.sql" => &[
            Type::TEXT,
            Type::TEXT,
            Type::TEXT,
            Type::BOOL,
            Type::TEXT,
            Type::TEXT,
            Type::INT8,
            Type::TEXT,
            Type::BOOL,
            Type::INT8,
            Type::TEXT,
            Type::INT8,
            Type::INT8,
        ],
        "store_bulk/targets.sql" => &[
            Type::TEXT,
            Type::TEXT,
            Type::TEXT,
            Type::BOOL,
            Type::TEXT,
            Type::TEXT,
            Type::INT8_ARRAY,
            Type::TEXT,
            Type::TEXT,
            Type::INT4,
            Type::INT8,
        ],
        "analytics/store_summary.sql" => {
            &[Type::TEXT, Type::INT8, Type::TEXT, Type::TIMESTAMPTZ, Type::TIMESTAMPTZ, Type::INT8, Type::INT8]
        }
        "analytics/brand_presence.sql" => &[
            Type::TEXT,
            Type::INT8,
            Type::TEXT,
            Type::TIMESTAMPTZ,
            Type::TIMESTAMPTZ,
            Type::INT8,
            Type::TEXT,
            Type::TEXT,
            Type::INT8,
        ],
        "analytics/category_mix.sql" => &[
            Type::TEXT,
            Type::INT8,
            Type::TEXT,
            Type::TIMESTAMPTZ,
            Type::TIMESTAMPTZ,
            Type::INT8,
            Type::TEXT,
            Type::INT8,
        ],
        "analytics/price_trend.sql" => {
            &[Type::TEXT, Type::TEXT, Type::TEXT, Type::DATE, Type::DATE, Type::DATE, Type::TEXT, Type::INT8]
        }
        "analytics/price_trend_of_store.sql" => &[
            Type::INT8,
            Type::TEXT,
            Type::TEXT,
            Type::TEXT,
            Type::DATE,
            Type::DATE,
            Type::DATE,
            Type::TEXT,
            Type::INT8,
        ],
        name if WITH_LISTED.contains(&name) || WITH_LISTED_AND_FOUND.contains(&name) => &[
            Type::INT8_ARRAY,
            Type::TEXT,
            Type::TEXT,
            Type::BOOL,
            Type::BOOL,
            Type::INT4,
            Type::INT4,
            Type::TEXT,
            Type::INT8,
            Type::TEXT,
            Type::INT8,
            Type::INT8,
            Type::INT8,
            Type::TEXT,
            Type::TEXT,
        ],
        _ => &[],
    }
}

/// The statement with a number for each name in braces, as its program gives the values.
fn numbered(text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut parts = text.split('{');
    let mut statement = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        if !names.contains(&name) {
            names.push(name);
        }
        let number = names.iter().position(|known| *known == name).unwrap() + 1;
        statement.push_str(&format!("${number}{rest}"));
    }
    statement
}

/// The files below a folder whose names end so, in the order of their names.
pub fn files_with(extension: &str, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(extension, &path));
        } else if path.extension().is_some_and(|ending| ending == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn fault(name: &str, error: &tokio_postgres::Error) -> String {
    format!("{name}: {}", error.as_db_error().map_or(error.to_string(), |db| db.to_string()))
}

#[tokio::test]
async fn every_statement_can_be_prepared() {
    let root = testkit::root().join("crates/db/src/sql");
    let database = testkit::database().await;
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (filters, columns, listed, found) = (read(FILTERS), read(COLUMNS), read(LISTED), read(FOUND));
    let parts = [FILTERS, COLUMNS, STORE_FILTERS, LISTED, FOUND];
    let generated = db::statements::generated();
    let mut faults = Vec::new();
    let files = files_with("sql", &root);
    for file in &files {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let is_template = generated.iter().any(|(template, _)| *template == name);
        if is_template || WITHOUT_SCHEMA.contains(&name.as_str()) || parts.contains(&name.as_str()) {
            continue;
        }
        let mut text = read(&name).replace("{columns}", &columns).replace("{store_filters}", &read(STORE_FILTERS));
        text = text.replace("{direction}", "DESC").replace("{beyond}", "<");
        if text.contains("{filters}") {
            text = numbered(&text.replace("{filters}", &filters));
        }
        if WITH_LISTED.contains(&name.as_str()) {
            text = format!("{listed}{text}");
        }
        if WITH_LISTED_AND_FOUND.contains(&name.as_str()) {
            text = format!("{listed}{text}{found}");
        }
        if let Err(error) = database.raw.prepare_typed(&text, types_of(&name)).await {
            faults.push(fault(&name, &error));
        }
    }
    for (name, text) in &generated {
        if let Err(error) = database.raw.prepare(text).await {
            faults.push(fault(name, &error));
        }
    }
    assert!(files.len() > 50, "only {} files were found under {}", files.len(), root.display());
    assert_eq!(faults, Vec::<String>::new());
}
