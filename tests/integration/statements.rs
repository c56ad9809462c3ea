//! Every statement, from a file under `crates/db/src/sql` or made from columns, fits the schema: a typing error must
//! not wait for its first use.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files of several statements, which are not of drover's own tables.
const WITHOUT_SCHEMA: [&str; 3] =
    ["schema/migrate/bookkeeping.sql", "schema/reader/roles.sql", "schema/reader/grants.sql"];

/// The statement with the files that it includes, the words of an order, and a number for each name. The compiler
/// compares the names with the values that the program gives.
fn whole(text: &str, root: &Path) -> String {
    let mut whole = text.replace("{direction}", "DESC").replace("{beyond}", "<");
    for part in included(text) {
        whole = whole.replace(&format!("{{{part}}}"), &std::fs::read_to_string(root.join(part)).unwrap());
    }
    let without_comments: Vec<&str> = whole.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
    numbered(&without_comments.join("\n"))
}

/// The files in braces.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split('{').filter_map(|rest| rest.split_once('}')).map(|(word, _)| word);
    words.filter(|word| word.ends_with(".sql"))
}

fn numbered(text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut parts = text.split('$');
    let mut statement = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
            statement.push_str(&format!("${part}"));
            continue;
        }
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

/// A file's name below the folder, and its text.
fn read(file: &Path, root: &Path) -> (String, String) {
    let name = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
    (name, std::fs::read_to_string(file).unwrap())
}

fn fault(name: &str, error: &tokio_postgres::Error) -> String {
    format!("{name}: {}", error.as_db_error().map_or(error.to_string(), |db| db.to_string()))
}

#[tokio::test]
async fn every_statement_can_be_prepared() {
    let root = testkit::root().join("crates/db/src/sql");
    let database = testkit::database().await;
    let files = files_with("sql", &root);
    let texts: Vec<(String, String)> = files.iter().map(|file| read(file, &root)).collect();
    let parts: BTreeSet<&str> = texts.iter().flat_map(|(_, text)| included(text)).collect();
    let generated = db::statements::generated::generated();
    let mut faults = Vec::new();
    for (name, text) in &texts {
        let is_template = generated.iter().any(|(template, _)| template == name);
        if is_template || WITHOUT_SCHEMA.contains(&name.as_str()) || parts.contains(name.as_str()) {
            continue;
        }
        if let Err(error) = database.raw.prepare(&whole(text, &root)).await {
            faults.push(fault(name, &error));
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
