//! The house rules, checked on the source: who may import whom, where SQL, time and the environment may be touched, and
//! how a file begins and ends. The rules stand in ARCHITECTURE.md; who changes one changes both.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod source;

use std::collections::BTreeSet;
use std::fs;

use source::{Source, files, root, rust_files};

/// Below every module but domain.
const COMMON: [&str; 13] = [
    "authorities",
    "clock",
    "config",
    "cpu",
    "digest",
    "events",
    "inflate",
    "log",
    "memory",
    "metrics",
    "process_limits",
    "secrets",
    "spelling",
];

/// What each module may import beside itself and [`COMMON`]. `*` = everything.
const MAY_IMPORT: [(&str, &[&str]); 32] = [
    ("main", &["*"]),
    ("cli", &["*"]),
    ("app", &["actors", "private_server", "db", "stealth", "storage", "downloads", "handlers", "platforms", "domain"]),
    ("simulated", &["db", "domain"]),
    // `supervised!` is a macro of its own, which lives at the crate's root
    ("actors", &["supervised", "handlers", "db", "stealth", "domain"]),
    ("images", &["storage"]),
    ("api", &["db", "storage", "images", "geo", "domain", "proxy_draft", "store_draft"]),
    ("downloads", &["db", "stealth", "storage", "domain"]),
    ("handlers", &["downloads", "platforms", "storage", "db", "stealth", "domain"]),
    ("platforms", &["stealth", "domain"]),
    ("stealth", &["domain"]),
    ("storage", &["domain"]),
    ("db", &["domain"]),
    ("geo", &["domain"]),
    ("private_server", &[]),
    ("proxy_draft", &["domain"]),
    ("store_draft", &["db", "platforms", "domain"]),
    ("domain", &[]),
    ("config", &["domain"]),
    ("events", &["domain"]),
    ("authorities", &[]),
    ("clock", &[]),
    ("cpu", &[]),
    ("digest", &[]),
    ("inflate", &[]),
    ("log", &[]),
    ("memory", &[]),
    ("metrics", &[]),
    ("process_limits", &[]),
    ("secrets", &[]),
    ("spelling", &[]),
    ("lib", &["*"]),
];

/// Pure modules, and the crates that values and rules may need.
const PURE: [&str; 5] = [
    "src/domain/",
    "src/platforms/dutchie/normalize",
    "src/stealth/rotation",
    "src/storage/layout",
    "src/storage/image_layout",
];
const PURE_CRATES: [&str; 9] =
    ["serde", "serde_json", "chrono", "cron", "hashbrown", "siphasher", "strum", "thiserror", "utoipa"];
const IMPURE_STD: [&str; 6] = ["env::", "fs::", "net::", "process::", "thread::", "::now("];

/// Who may read the environment, and why.
const READS_ENVIRONMENT: [(&str, &str); 1] = [("src/config/load.rs", "it is the configuration")];

/// A file that needs more has more than one subject.
const MAX_LINES: usize = 400;

#[test]
fn modules_import_downwards_only() {
    let mut wrong = Vec::new();
    for file in product() {
        let module = file.module()[0].to_owned();
        let allowed = MAY_IMPORT.iter().find(|(name, _)| *name == module);
        let Some((_, allowed)) = allowed else {
            wrong.push(format!("{}: module {module} has no rule", file.path));
            continue;
        };
        for path in file.crate_paths() {
            if path[0] != module && !may(&module, allowed, &path) {
                wrong.push(format!("{}: {module} must not import {}", file.path, path.join("::")));
            }
        }
    }
    assert_none(wrong);
}

#[test]
fn pure_modules_know_values_only() {
    let crates = dependencies();
    let mut wrong = Vec::new();
    for file in product().filter(|file| PURE.iter().any(|pure| file.path.starts_with(pure))) {
        let is_foreign = |name: &&str| crates.contains(*name) && !PURE_CRATES.contains(name);
        let foreign: BTreeSet<_> = file.first_segments().into_iter().filter(is_foreign).collect();
        wrong.extend(foreign.into_iter().map(|name| format!("{}: must not know {name}", file.path)));
        let impure = IMPURE_STD.iter().filter(|word| file.code.contains(**word));
        wrong.extend(impure.map(|word| format!("{}: must not know {word}", file.path)));
    }
    assert_none(wrong);
}

#[test]
fn only_db_and_migrations_hold_sql() {
    let verbs = [
        "SELECT ",
        "INSERT INTO ",
        "UPDATE ",
        "DELETE FROM ",
        "WITH ",
        "CREATE ",
        "ALTER TABLE ",
        "LISTEN ",
        "NOTIFY ",
    ];
    let is_sql = |text: &&String| verbs.iter().any(|verb| text.trim_start().starts_with(verb));
    // the private server's first statement, sent before there is a database to connect to
    let homes = ["src/db/", "src/private_server/cluster.rs"];
    let elsewhere = product().filter(|file| !homes.iter().any(|home| file.path.starts_with(home)));
    let strings = elsewhere.flat_map(|file| {
        let found: Vec<String> =
            file.strings.iter().filter(is_sql).map(|sql| format!("{}: {sql}", file.path)).collect();
        found
    });
    let loose = files(".").into_iter().filter(|path| path.ends_with(".sql"));
    let homes = ["migrations/", "src/db/sql/", "benches/"];
    let loose = loose.filter(|path| !homes.iter().any(|home| path.starts_with(home)));
    assert_none(strings.chain(loose).collect());
}

#[test]
fn a_row_that_cannot_be_read_is_no_panic() {
    let database = product().filter(|file| file.path.starts_with("src/db/"));
    let panics = database.filter(|file| file.code.contains("row.get(") || file.code.contains("row.get::"));
    assert_none(panics.map(|file| format!("{}: Row::get panics; use try_get", file.path)).collect());
}

#[test]
fn every_statement_file_is_used() {
    let code: String =
        product().filter(|file| file.path.starts_with("src/db/")).flat_map(|file| file.strings).collect();
    let unused = files("src/db/sql").into_iter().filter(|path| !code.contains(path.trim_start_matches("src/db/")));
    assert_none(unused.collect());
}

#[test]
fn only_calls_of_functions_have_no_file() {
    let writes =
        |text: &str| ["INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH "].iter().any(|verb| text.starts_with(verb));
    // what it reads from is a table, not the result of a function
    let reads = |text: &str| {
        let source = text.strip_prefix("SELECT ").and_then(|rest| rest.split_once(" FROM "));
        source.is_some_and(|(_, source)| !source.split(' ').next().unwrap().contains('('))
    };
    let database = product().filter(|file| file.path.starts_with("src/db/"));
    let inline = database.flat_map(|file| {
        let found: Vec<String> = file
            .strings
            .iter()
            .filter(|text| writes(text) || reads(text))
            .map(|sql| format!("{}: {sql}", file.path))
            .collect();
        found
    });
    assert_none(inline.collect());
}

#[test]
fn migrations_have_numbers_of_their_own() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for path in files("migrations").iter().filter(|path| path.ends_with(".sql") && !path.contains("/objects/")) {
        let (number, subject) = path.trim_start_matches("migrations/").split_once('_').unwrap_or_default();
        let is_number = number.len() == 4 && number.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number || subject.contains('/') || !seen.insert(number.to_owned()) {
            wrong.push(path.clone());
        }
    }
    assert_none(wrong);
}

#[test]
fn only_the_configuration_reads_the_environment() {
    let reads = ["env::var", "env::vars", "env::set_var", "env::remove_var"];
    assert_none(files_with(&reads, &READS_ENVIRONMENT));
}

#[test]
fn every_exception_is_used() {
    let unused =
        |(path, _): &&(&str, &str)| !product().any(|file| file.path == *path && file.code.contains("env::var"));
    assert_none(READS_ENVIRONMENT.iter().filter(unused).map(|(path, _)| (*path).to_owned()).collect());
}

/// Wall-clock time, that is; durations are measured where they are needed, by `Instant`.
#[test]
fn only_the_clock_asks_what_time_it_is() {
    assert_none(files_with(&["Utc::now(", "Local::now(", "SystemTime::now("], &[("src/clock.rs", "it is the clock")]));
}

#[test]
fn nothing_unwraps() {
    assert_none(files_with(
        &[".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!("],
        &[("src/metrics.rs", "names are constants")],
    ));
}

#[test]
fn every_file_says_what_it_is() {
    let silent = every_rust_file().filter(|file| !file.text.starts_with("//! ")).map(|file| file.path);
    assert_none(silent.collect());
}

#[test]
fn no_file_has_many_subjects() {
    let long = product().filter(|file| file.code_lines() > MAX_LINES);
    assert_none(long.map(|file| format!("{}: {} lines of code", file.path, file.code_lines())).collect());
}

#[test]
fn nothing_is_left_for_later() {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    let left = every_rust_file().filter(|file| marks.iter().any(|mark| file.text.contains(mark)));
    assert_none(left.map(|file| file.path).collect());
}

#[test]
fn the_simulator_does_not_know_the_product() {
    let manifest = fs::read_to_string(root().join("sim/Cargo.toml")).unwrap();
    assert!(!manifest.contains("drover ="), "sim depends on drover");
    let knows = rust_files("sim").into_iter().filter(|file| file.code.contains("drover::"));
    assert_none(knows.map(|file| file.path).collect());
}

#[test]
fn nothing_names_the_place_where_it_was_written() {
    let places = [concat!("/wo", "rk/"), concat!("/tmp/", "wt"), concat!("../", "shared")];
    let mut wrong = Vec::new();
    for path in files(".") {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        let named = places.iter().filter(|place| text.contains(**place));
        wrong.extend(named.map(|place| format!("{path}: {place}")));
    }
    assert_none(wrong);
}

fn may(module: &str, allowed: &[&str], path: &[String]) -> bool {
    let path = path.join("::");
    let below = |allowed: &str| path == allowed || path.starts_with(&format!("{allowed}::"));
    allowed.iter().any(|allowed| *allowed == "*" || below(allowed))
        || (module != "domain" && COMMON.iter().any(|common| below(common)))
}

/// The crates that the program depends on, as code names them.
fn dependencies() -> BTreeSet<String> {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    manifest["dependencies"].as_table().unwrap().keys().map(|name| name.replace('-', "_")).collect()
}

/// Files of the product itself, without its tests.
fn product() -> impl Iterator<Item = Source> {
    rust_files("src").into_iter().filter(|file| !file.is_test())
}

fn every_rust_file() -> impl Iterator<Item = Source> {
    ["src", "sim/src", "tests"].into_iter().flat_map(rust_files)
}

fn files_with(words: &[&str], exceptions: &[(&str, &str)]) -> Vec<String> {
    find(product(), words, exceptions)
}

fn find(files: impl Iterator<Item = Source>, words: &[&str], exceptions: &[(&str, &str)]) -> Vec<String> {
    let files = files.filter(|file| !exceptions.iter().any(|(path, _)| file.path.starts_with(path)));
    let hits = files.flat_map(|file| {
        let found: Vec<String> = words
            .iter()
            .filter(|word| file.code.contains(**word))
            .map(|word| format!("{}: {word}", file.path))
            .collect();
        found
    });
    hits.collect()
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n  {}\n", wrong.join("\n  "));
}
