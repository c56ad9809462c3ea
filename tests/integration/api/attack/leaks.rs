//! Text that no answer may hold: the database's errors and statements, paths and panics of the program,
//! credentials. Every answer of the tests of the API goes through here.

/// Each with the meaning of its presence.
const LEAKS: [(&str, &[&str]); 4] = [
    (
        "an error of the database",
        &[
            "syntax error at",
            "SQLSTATE",
            "violates ",
            "duplicate key value",
            "invalid input syntax",
            "relation \"",
            "column \"",
            "out of range for type",
            "db error",
            "tokio_postgres",
            "prepared statement",
            "invalid byte sequence",
            "deadlock detected",
            "canceling statement",
            "could not serialize",
            "pg_catalog",
            "error returned from",
        ],
    ),
    ("a statement", &["SELECT ", "INSERT INTO", "DELETE FROM", "UPDATE SET", " WHERE ", "ON CONFLICT"]),
    (
        "the program's inside",
        &[
            ".rs:",
            "/src/",
            "crates/api/src",
            "crates/db/src",
            "/rustc/",
            "cargo/registry",
            "panicked",
            "stack backtrace",
            "called `Option::",
            "called `Result::",
            "RUST_BACKTRACE",
        ],
    ),
    ("a credential", &["postgres://", "postgresql://", "password=", "Bearer drover_", "BEGIN PRIVATE KEY", "$drover$"]),
];

/// Fails where `text`, all of an answer to `what`, reveals something that is for the log only.
#[track_caller]
pub fn assert_none(what: &str, text: &str) {
    let checkout = testkit::root().canonicalize().unwrap();
    assert!(!text.contains(checkout.to_str().unwrap()), "the checkout's path in the answer to {what}: {text}");
    for (kind, leaks) in LEAKS {
        let found = leaks.iter().find(|leak| text.contains(**leak) && !is_setting(what, leak));
        assert!(found.is_none(), "{kind} ({found:?}) in the answer to {what}: {text}");
    }
}

/// Admins are shown where the database is, without its password: a test of canaries looks for that.
fn is_setting(what: &str, leak: &str) -> bool {
    what == "GET /api/config" && ["postgresql://", "password="].contains(&leak)
}

#[test]
#[should_panic(expected = "an error of the database")]
fn an_error_of_the_database_is_noticed() {
    assert_none("a test", r#"{"detail":"duplicate key value violates unique constraint"}"#);
}

#[test]
#[should_panic(expected = "the program's inside")]
fn a_source_path_is_noticed() {
    assert_none("a test", "thread 'main' at crates/api/src/tasks.rs:17");
}
