//! The house rules, checked on the source: which modules may import which, where SQL, time and the
//! environment may be touched, and how a file begins and ends. The rules are in ARCHITECTURE.md; change both
//! together.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod licenses;
mod source;

use std::collections::BTreeSet;
use std::fs;

use source::{Source, files, root, rust_files};

/// Modules of the package `drover`, and what each may use of the workspace beside itself, [`COMMON`] and `domain`. Between packages
/// Cargo holds the walls; modules without a line may use everything.
const MAY_USE: [(&str, &[&str]); 6] = [
    ("stealth", &["http_client"]),
    ("platforms", &["stealth"]),
    ("downloads", &["supervision", "stealth", "db", "storage", "image_transform"]),
    ("handlers", &["queue", "downloads", "media", "delivery", "public_http", "platforms", "stealth", "db", "storage"]),
    ("actors", &["queue", "supervision", "handlers", "stealth", "db"]),
    ("simulated", &["db", "sim"]),
];

/// Packages that hold no part of the crawl, and the list of optional parts.
const COMMON: [&str; 5] = ["domain", "features", "foundation", "settings", "telemetry"];

/// Modules of values and rules: the same answer for the same arguments.
const PURE: [&str; 10] = [
    "crates/contract/src/",
    "crates/domain/src/",
    "src/platforms/dutchie/normalize",
    "src/platforms/dutchie_plus/normalize",
    "src/platforms/jane/normalize",
    "src/platforms/leafly/normalize",
    "src/platforms/weedmaps/normalize",
    "src/stealth/rotation",
    "crates/storage/src/layout",
    "crates/storage/src/image_layout",
];
const IMPURE: [&str; 10] =
    ["env::", "fs::", "net::Tcp", "process::", "thread::", "::now(", "tokio::", "hyper::", "clock::", "db::"];

/// Files that may read the environment, and why.
const READS_ENVIRONMENT: [(&str, &str); 1] = [("crates/settings/src/load.rs", "it is the configuration")];

/// Files that may spawn work by themselves, and the work: all of it ends. A loop is started by `Background`.
const SPAWNS: [(&str, &str); 21] = [
    ("crates/api/src/exports/run.rs", "the sender of a file, which ends with its client"),
    ("crates/api/src/refusals.rs", "the answer to a refused connection, within two seconds"),
    ("crates/api/src/rendered_images.rs", "a picture that more than one request may wait for"),
    ("crates/api/src/server.rs", "a connection"),
    ("crates/db/src/connection/client.rs", "the cancellation of a statement"),
    ("crates/db/src/schema/indexes.rs", "a connection, whose client sees its end"),
    ("crates/public-http/src/post.rs", "the rest of an answer"),
    ("crates/delivery/src/mail.rs", "the end of a dialogue"),
    ("crates/queue/src/after_hooks.rs", "work after a commit"),
    ("crates/queue/src/execute.rs", "a body"),
    ("crates/queue/src/heartbeat.rs", "a connection, whose client sees its end"),
    ("crates/queue/src/task_guard.rs", "a task on its way back"),
    ("crates/supervision/src/background.rs", "the loops themselves"),
    ("crates/supervision/src/watchdog.rs", "a sign of life"),
    ("src/actors/pods/pod.rs", "one reading of commands"),
    ("src/actors/pods/recovery.rs", "tasks on their way back"),
    ("src/actors/pods/task.rs", "a run"),
    ("src/actors/proxy_pool", "one exchange with the table"),
    ("src/actors/scheduler.rs", "one run of a chore"),
    ("src/cli/remote.rs", "a connection, whose client sees its end"),
    ("src/handlers/notify.rs", "the record of a delivery"),
];
/// The same of the requests to a host.
const SPAWNS_OF_REQUESTS: &str = "src/stealth/";

/// Files beside the platforms' folders that name one of them, and why.
const NAMES_PLATFORMS: [(&str, &str); 5] = [
    ("crates/domain/src/platform_list.rs", "it is the list"),
    ("crates/domain/src/retailer/contact.rs", "sites of many shops say nothing about one"),
    ("crates/db/src/sql/schema/indexes/worker_tasks_ended_platform.sql", "databases have the index"),
    ("src/cli/demo/", "its stores are of the platform that is simulated"),
    ("src/simulated.rs", "its stores are of the platform that is simulated"),
];

/// Texts with `{:?}` that users may read: a duration is written as settings are (`1.5s`), a text between quotes,
/// with what cannot be seen escaped.
const DEBUG_OF_DURATIONS: [&str; 11] =
    ["after", "busy", "deadline", "grace", "limit", "longest", "pause", "silent", "tick", "time_limit", "waited"];
const DEBUG_OF_TEXTS: [(&str, &str); 11] = [
    // it compares what a field shows with the message
    ("crates/telemetry/src/log/terminal_lines.rs", "value"),
    ("crates/media/src/clients/easynews.rs", "shown"),
    ("crates/media/src/clients/easynews.rs", "field"),
    ("crates/media/src/clients/forum_page.rs", "id"),
    ("crates/media/src/clients/selectors.rs", "format"),
    ("crates/media/src/clients/selectors.rs", "one"),
    ("crates/media/src/clients/tmdb.rs", "date"),
    ("crates/media/src/clients/youtube.rs", "text"),
    ("src/stealth/consistency.rs", "name"),
    ("src/stealth/consistency.rs", "value"),
    ("src/cli/platforms/hashes.rs", "other"),
];

/// First words of a doc comment that does not say what the thing is, or does: `/// In seconds.`
const LATE_HEADS: [&str; 30] = [
    "After", "As", "At", "Before", "Beside", "By", "For", "From", "If", "In", "It", "Like", "Not", "Of", "On", "Since",
    "That", "These", "Those", "To", "Until", "What", "When", "Where", "Which", "While", "Who", "With", "Within",
    "Without",
];

/// A file that needs more has more than one subject.
const MAX_LINES: usize = 400;

#[test]
fn modules_import_downwards_only() {
    let names = workspace_names();
    let mut wrong = Vec::new();
    for (module, allowed) in MAY_USE {
        let known = |name: &str| name == module || allowed.contains(&name) || COMMON.contains(&name);
        let forbidden: Vec<&String> = names.iter().filter(|name| !known(name)).collect();
        for file in product().filter(|file| file.is_of_module(module)) {
            let named = forbidden.iter().filter(|name| file.names(name));
            wrong.extend(named.map(|name| format!("{}: {module} must not use {name}", file.path)));
        }
    }
    assert_none(wrong);
}

#[test]
fn pure_modules_know_values_only() {
    let pure = product().filter(|file| PURE.iter().any(|pure| file.path.starts_with(pure)));
    assert_none(find(pure, &IMPURE, &[]));
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
    // the private server's first statement, sent before there is a database to connect to; files of SQLite, which belong to
    // other programs
    let homes = [
        "crates/db/src/",
        "crates/private-server/src/cluster.rs",
        "crates/media/src/gallery_dl/archive.rs",
        "src/cli/jobs/older_queue.rs",
    ];
    let elsewhere = product().filter(|file| !homes.iter().any(|home| file.path.starts_with(home)));
    let strings = elsewhere.flat_map(|file| {
        let found: Vec<String> =
            file.strings.iter().filter(is_sql).map(|sql| format!("{}: {sql}", file.path)).collect();
        found
    });
    let loose = files(".").into_iter().filter(|path| path.ends_with(".sql"));
    let homes = ["migrations/", "crates/db/src/sql/", "benches/"];
    let loose = loose.filter(|path| !homes.iter().any(|home| path.starts_with(home)));
    assert_none(strings.chain(loose).collect());
}

#[test]
fn a_row_that_cannot_be_read_is_no_panic() {
    let database = product().filter(|file| file.path.starts_with("crates/db/src/"));
    let panics = database.filter(|file| file.code.contains("row.get(") || file.code.contains("row.get::"));
    assert_none(panics.map(|file| format!("{}: Row::get panics; use try_get", file.path)).collect());
}

/// The statements' files as `named!` names them, and their texts.
fn statements() -> impl Iterator<Item = (String, String)> {
    let folder = "crates/db/src/sql/";
    let paths = files(folder).into_iter();
    paths.map(move |path| (path[folder.len()..].to_owned(), fs::read_to_string(root().join(&path)).unwrap()))
}

/// The texts that follow a `$` in a statement, outside of its comments and strings.
fn values(statement: &str) -> Vec<&str> {
    let code = statement.lines().map(|line| line.split("--").next().unwrap_or_default());
    code.flat_map(|line| line.split('\'').step_by(2)).flat_map(|text| text.split('$').skip(1)).collect()
}

#[test]
fn every_statement_file_is_used() {
    let strings: BTreeSet<&String> =
        product().filter(|file| file.path.starts_with("crates/db/src/")).flat_map(|file| &file.strings).collect();
    let is_used = |name: &String| strings.contains(name);
    assert_none(statements().map(|(name, _)| name).filter(|name| !is_used(name)).collect());
}

#[test]
fn four_values_of_a_statement_have_names() {
    let inline = product()
        .filter(|file| file.path.starts_with("crates/db/src/"))
        .flat_map(|file| file.strings.iter().map(|text| (file.path.clone(), text.clone())));
    let number = |value: &str| value.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok();
    let wrong =
        statements().chain(inline).filter(|(_, text)| values(text).into_iter().filter_map(number).max() >= Some(4));
    assert_none(
        wrong
            .map(|(name, _)| format!("{name}: give the values names, as crates/db/src/statements/named.rs says"))
            .collect(),
    );
}

#[test]
fn names_of_values_are_read_by_the_macro() {
    let database: Vec<_> = product()
        .filter(|file| file.path.starts_with("crates/db/src/") && file.path != "crates/db/src/statements/numbered.rs")
        .collect();
    let is_by_itself =
        |name: &str| database.iter().any(|file| file.before_tests().contains(&format!("sql!(\"{name}\")")));
    let has_names = |text: &str| values(text).iter().any(|value| value.starts_with(|first: char| first.is_lowercase()));
    let wrong = statements().filter(|(name, text)| has_names(text) && is_by_itself(name));
    assert_none(wrong.map(|(name, _)| format!("{name}: write named!, not sql!")).collect());
}

#[test]
fn only_calls_of_functions_have_no_file() {
    let writes =
        |text: &str| ["INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH "].iter().any(|verb| text.starts_with(verb));
    // it reads from a table, not from the result of a function
    let reads = |text: &str| {
        let source = text.strip_prefix("SELECT ").and_then(|rest| rest.split_once(" FROM "));
        source.is_some_and(|(_, source)| !source.split(' ').next().unwrap().contains('('))
    };
    let database = product().filter(|file| file.path.starts_with("crates/db/src/"));
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
    assert_none(files_with(
        &["Utc::now(", "Local::now(", "SystemTime::now("],
        &[("crates/foundation/src/clock.rs", "it is the clock")],
    ));
}

#[test]
fn nothing_unwraps() {
    assert_none(files_with(
        &[".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!("],
        &[("crates/telemetry/src/metrics.rs", "names are constants")],
    ));
}

#[test]
fn every_file_says_what_it_is() {
    let silent = every_rust_file().filter(|file| !file.text.starts_with("//! ")).map(|file| file.path.clone());
    assert_none(silent.collect());
}

#[test]
fn comments_name_the_thing_first() {
    let begins_late = |line: &str| {
        let comment = line.trim_start().trim_start_matches(['/', '!', '*', '-']).trim_start();
        let is_comment = ["//", "/*", "* ", "--"].iter().any(|mark| line.trim_start().starts_with(mark));
        is_comment && ["What ", "Of ", "Those "].iter().any(|word| comment.starts_with(word))
    };
    let read = files("").into_iter().filter(|path| [".rs", ".sql", ".js"].iter().any(|end| path.ends_with(end)));
    let read = read.filter(|path| !path.contains("node_modules/") && !path.starts_with("ui/vendor/"));
    let lines = read.flat_map(|path| {
        let text = fs::read_to_string(root().join(&path)).unwrap_or_default();
        let late = text.lines().filter(|line| begins_late(line)).map(|line| format!("{path}: {}", line.trim()));
        late.collect::<Vec<_>>()
    });
    assert_none(lines.collect());
}

#[test]
fn doc_comments_begin_with_a_noun_or_a_verb() {
    let is_doc = |line: &str| line.trim_start().starts_with("///");
    let begins_late = |line: &str| {
        let comment = line.trim_start().trim_start_matches('/').trim_start();
        LATE_HEADS.contains(&comment.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default())
    };
    let lines = product().flat_map(|file| {
        let before = std::iter::once("").chain(file.text.lines());
        let first = before.zip(file.text.lines()).filter(|(before, line)| is_doc(line) && !is_doc(before));
        let late = first.filter(|(_, line)| begins_late(line));
        late.map(|(_, line)| format!("{}: {}", file.path, line.trim())).collect::<Vec<_>>()
    });
    assert_none(lines.collect());
}

#[test]
fn no_file_has_many_subjects() {
    let long = product().filter(|file| file.code_lines() > MAX_LINES);
    assert_none(long.map(|file| format!("{}: {} lines of code", file.path, file.code_lines())).collect());
}

#[test]
fn no_test_bounds_a_wall_time_below_ten_seconds() {
    let waits = ["until(\"", ".ended(", "SOON: Duration", "PATIENCE: Duration", "PROMPTLY: Duration"];
    let bounds = |line: &str| {
        waits.iter().any(|wait| line.contains(wait)) || line.contains("assert!(") && line.contains("elapsed() <")
    };
    let is_short = |line: &str| {
        let seconds = line.split("Duration::from_secs(").nth(1).and_then(|rest| rest.split(')').next());
        line.contains("Duration::from_millis(") || seconds.is_some_and(|seconds| seconds.len() == 1)
    };
    let tests = every_rust_file().chain(rust_files("sim/tests"));
    let short = tests.flat_map(|file| {
        let short = file.text.lines().filter(|line| bounds(line) && is_short(line));
        short.map(|line| format!("{}: {}", file.path, line.trim())).collect::<Vec<_>>()
    });
    assert_none(short.collect());
}

#[test]
fn every_loop_is_restarted_after_a_panic_and_ends_the_process_when_that_does_not_help() {
    let is_known =
        |path: &str| path.starts_with(SPAWNS_OF_REQUESTS) || SPAWNS.iter().any(|(known, _)| path.starts_with(known));
    let spawns = |file: &Source| {
        let product = file.code.split("#[cfg(test)]").next().unwrap_or_default();
        product.contains("tokio::spawn(") || product.contains("runtime.spawn(")
    };
    let unknown = product().filter(|file| spawns(file) && !is_known(&file.path));
    assert_none(unknown.map(|file| format!("{}: start a loop by `Background`", file.path)).collect());
}

#[test]
fn a_platform_is_named_in_its_folder_alone() {
    let list = fs::read_to_string(root().join(NAMES_PLATFORMS[0].0)).unwrap();
    let rows = list.lines().filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "));
    let words: Vec<String> = rows.map(|(_, folder)| folder.to_owned()).collect();
    assert!(words.len() > 1, "{words:?}");
    let names =
        |text: &str| words.iter().any(|word| text.to_ascii_lowercase().contains(word.split('_').next().unwrap()));
    let is_known = |path: &str| {
        NAMES_PLATFORMS.iter().any(|(known, _)| path.starts_with(known))
            || words.iter().any(|word| path.starts_with(&format!("src/platforms/{word}/")))
    };
    let code =
        product().filter(|file| !file.is_test() && (names(&file.code) || file.strings.iter().any(|text| names(text))));
    let written = ["ui/core", "ui/parts", "ui/pages", "crates/db/src/sql"].into_iter().flat_map(files);
    let written = written.filter(|path| names(&fs::read_to_string(root().join(path)).unwrap()));
    let all = code.map(|file| file.path.clone()).chain(written).filter(|path| !is_known(path));
    assert_none(all.collect());
}

#[test]
fn nothing_is_left_for_later() {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    let left = every_rust_file().filter(|file| marks.iter().any(|mark| file.text.contains(mark)));
    assert_none(left.map(|file| file.path.clone()).collect());
}

#[test]
fn the_simulator_does_not_know_the_product() {
    let manifest = fs::read_to_string(root().join("sim/Cargo.toml")).unwrap();
    assert!(!manifest.contains("drover ="), "sim depends on drover");
    let files = rust_files("sim").chain(rust_files("src").filter(|file| is_simulated(file)));
    let knows = files.filter(|file| file.code.contains("drover::"));
    assert_none(knows.map(|file| file.path.clone()).collect());
}

#[test]
fn no_text_shows_users_the_debug_form_of_a_value() {
    let is_constant =
        |shown: &str| !shown.is_empty() && shown.chars().all(|char| char.is_ascii_uppercase() || char == '_');
    let is_allowed = |file: &Source, shown: &str| {
        is_constant(shown)
            || DEBUG_OF_DURATIONS.contains(&shown)
            || DEBUG_OF_TEXTS.contains(&(file.path.as_str(), shown))
    };
    let mut wrong = Vec::new();
    for file in product() {
        for text in &file.strings {
            let shown = text.match_indices(":?}").map(|(at, _)| text[..at].rsplit('{').next().unwrap_or_default());
            wrong.extend(
                shown.filter(|shown| !is_allowed(file, shown)).map(|shown| format!("{}: {{{shown}:?}}", file.path)),
            );
        }
        // fields of a log line: `warn!(?kind, …)`, `warn!(kind = ?kind, …)`
        wrong.extend(
            [",?", "(?", "=?"]
                .iter()
                .filter(|form| file.code.contains(**form))
                .map(|form| format!("{}: {form}", file.path)),
        );
    }
    assert_none(wrong);
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

/// The modules of the package `drover` and the packages beside it, as code names them.
fn workspace_names() -> BTreeSet<String> {
    let name = |path: &str| path.trim_end_matches(".rs").replace('-', "_");
    let children = |folder: &str| fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let names = children("src").chain(children("crates")).map(|file| name(&file.to_string_lossy()));
    names.filter(|name| !["main", "lib"].contains(&name.as_str())).chain(["sim".to_owned()]).collect()
}

/// Files of the product itself, without its tests and the platforms' parts of the simulator.
fn product() -> impl Iterator<Item = &'static Source> {
    let is_build_script = |file: &Source| file.path.ends_with("/build.rs");
    let files = ["src", "crates"].into_iter().flat_map(rust_files);
    files.filter(move |file| !file.is_test() && !is_build_script(file) && !is_simulated(file))
}

/// Whether a file in a platform's folder is part of the simulator.
fn is_simulated(file: &Source) -> bool {
    file.path.starts_with("src/platforms/") && (file.path.contains("/sim/") || file.path.ends_with("/sim.rs"))
}

fn every_rust_file() -> impl Iterator<Item = &'static Source> {
    ["src", "crates", "sim/src", "tests"].into_iter().flat_map(rust_files)
}

fn files_with(words: &[&str], exceptions: &[(&str, &str)]) -> Vec<String> {
    find(product(), words, exceptions)
}

fn find(files: impl Iterator<Item = &'static Source>, words: &[&str], exceptions: &[(&str, &str)]) -> Vec<String> {
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
