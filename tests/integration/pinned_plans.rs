//! The plans of the queue's functions are pinned: each function that the program calls carries its planner
//! settings, and the functions it calls run under them.

use crate::statements::files_with;

const PINS: [&str; 5] =
    ["plan_cache_mode=force_generic_plan", "enable_seqscan=off", "enable_bitmapscan=off", "enable_sort=off", "jit=off"];

/// Statements other than the queue's hot ones: DDL, walks over all stores with settings of their own, one row by its key, the
/// kinds that `migrate` writes, a message in the log, the tables of the older schema, which are read whole, and the options of
/// a product, a function that is planned as a part of its statement.
const NOT_PINNED: [&str; 17] = [
    "cancel_legacy_crawl_jobs",
    "cheapest_option",
    "close_legacy_runs",
    "crawl_interval_hours",
    "disable_legacy_schedules",
    "drop_old_partition",
    "ensure_snapshot_partitions",
    "flush_renewals",
    "generate_for_state",
    "generate_resync",
    "insert_job",
    "legacy_counts",
    "legacy_tables",
    "old_partitions",
    "run_schedule",
    "set_task_kinds",
    "take_turn",
];

#[tokio::test]
async fn every_function_that_the_program_calls_pins_its_plans() {
    let sources = sources();
    // an immutable function reads no table
    let functions = "SELECT proname::text, coalesce(proconfig, '{}') FROM pg_proc \
                     WHERE pronamespace = 'public'::regnamespace AND provolatile <> 'i'";
    let mut called = Vec::new();
    let mut faults = Vec::new();
    for row in testkit::database().await.raw.query(functions, &[]).await.unwrap() {
        let (name, settings): (String, Vec<String>) = (row.get(0), row.get(1));
        if !is_called(&sources, &name) {
            continue;
        }
        let missing: Vec<_> = PINS.iter().filter(|pin| !settings.iter().any(|setting| setting == *pin)).collect();
        if !missing.is_empty() && !NOT_PINNED.contains(&name.as_str()) {
            faults.push(format!("{name} lacks {missing:?}"));
        }
        called.push(name);
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(called.len() > 10, "only {called:?} were found in the sources");
    assert!(NOT_PINNED.iter().all(|name| called.iter().any(|called| called == name)), "{called:?}");
}

/// Calls in SQL; calls in Rust look different.
fn is_called(sources: &str, name: &str) -> bool {
    ["SELECT", "FROM"].iter().any(|word| sources.contains(&format!("{word} {name}(")))
}

/// All of `crates/db/src`: statements are in files of their own and in Rust.
fn sources() -> String {
    let root = testkit::root().join("crates/db/src");
    let files = ["rs", "sql"].into_iter().flat_map(|extension| files_with(extension, &root));
    files.map(|file| std::fs::read_to_string(file).unwrap()).collect()
}
