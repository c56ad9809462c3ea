//! Brings the schema up to date: applies the files of `migrations/` that the database lacks, under one lock,
//! in one transaction.
//!
//! Any number of processes may call [`up`] at once: one works, the others wait and find nothing left to do. A
//! running queue is not blocked: only changed objects are replaced, and a lock that is not granted within
//! [`LOCK_TIMEOUT`] is requested again later. `migrations/README.md` has the rules for the files.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use thiserror::Error;
use tokio_postgres::Row;

use super::{server_info, task_kinds};
use crate::statements::{first_column, read_all, rows, sql};
use crate::{Client, Db, DbError};
use foundation::digest::sha256_hex;
use telemetry::events;

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// The advisory lock of migrations ("drover" in ASCII).
const LOCK: i64 = 0x6472_6f76_6572;
/// Maximum time DDL waits for a lock. Every later request for the table waits as long, claims and heartbeats
/// included.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// Pause between two such waits, in which the queue works.
const LOCK_PAUSE: Duration = Duration::from_secs(2);
const MAX_LOCK_ATTEMPTS: u32 = 10;
/// The object file with all that a dump lacks: comments, and the rights of other accounts.
const NOT_DUMPED: &str = "96_drover_v1_comments";

/// Reason why the schema does not suit this program. Only [`MigrateError::Db`] and [`MigrateError::Locked`]
/// may pass by themselves.
#[derive(Debug, Error)]
pub enum MigrateError {
    #[error("migration {0} was changed after it had been applied; restore its file, and put the change into a new one")]
    Changed(String),
    #[error(
        "the database has migration {0}, which this program does not know: it is older than the database; upgrade it"
    )]
    Unknown(String),
    #[error("migration file {0} is not named NNNN_subject.sql with a unique number")]
    BadName(String),
    #[error("migration {name} failed, and nothing was changed")]
    Failed { name: String, source: DbError },
    #[error(
        "another session holds a lock that {name} needs, and nothing was changed; end that session's transaction \
         (docs/runbook.md shows how to find it)"
    )]
    Locked { name: String, source: DbError },
    #[error("the database lacks {missing} migrations or objects of this program; run: drover migrate up")]
    Outdated { missing: usize },
    #[error(
        "the database holds tables of another program ({tables}, such as {example}) but no drover tables: correct database.url, or create drover's tables beside them with: drover migrate up"
    )]
    Foreign { tables: i64, example: String },
    #[error(
        "the search_path of this account or database names no schema that tables can be made in: \
         ALTER ROLE or ALTER DATABASE … SET search_path = public"
    )]
    NoSchema,
    #[error("the database's encoding is {0}, but menus need UTF8: {remedy}", remedy = server_info::ENCODING_REMEDY)]
    Encoding(String),
    #[error("the schema could not be compared or changed")]
    Db(#[from] DbError),
}

/// Changes that [`up`] made, by name.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Report {
    pub applied: Vec<String>,
    pub objects: Vec<String>,
}

/// Result of comparing the database with the files.
#[derive(Debug, Serialize)]
pub struct Status {
    pub applied: Vec<AppliedMigration>,
    pub pending: Vec<String>,
    /// Functions, views and triggers that differ from their files.
    pub objects: Vec<String>,
    /// The objects are those of a newer program. They stay as they are, and work with this program as well.
    pub has_newer_objects: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct AppliedMigration {
    pub version: i32,
    pub name: String,
    pub applied_at: DateTime<Utc>,
    #[serde(skip)]
    checksum: String,
}

impl Status {
    pub fn is_current(&self) -> bool {
        self.missing() == 0
    }

    pub fn missing(&self) -> usize {
        self.pending.len() + self.objects.len()
    }
}

/// Applies everything that is missing. On an error nothing is applied.
pub async fn up(db: &Db) -> Result<Report, MigrateError> {
    Files::embedded()?.up(db).await
}

/// Same as [`up`], but only in a database that is drover's or empty: another program's is left alone.
pub async fn up_own(db: &Db) -> Result<Report, MigrateError> {
    if status(db).await?.is_current() {
        return Ok(Report::default());
    }
    require_own(db).await?;
    up(db).await
}

/// Completes a restored database, whose schema is up to date, by what its dump lacks.
pub async fn complete_restored(db: &Db) -> Result<(), MigrateError> {
    let lacking = OBJECTS.iter().filter(|(name, _)| *name == NOT_DUMPED);
    let tx = db.begin_maintenance().await?;
    for (name, sql) in lacking {
        tx.batch(sql).await.map_err(failed(name))?;
    }
    Ok(tx.commit().await?)
}

/// Refuses a database with another program's tables.
pub async fn require_own(db: &Db) -> Result<(), MigrateError> {
    let row = db.client().await?.query_one(sql!("schema/migrate/foreign_tables.sql"), &[]).await?;
    let foreign = || Ok::<_, DbError>((row.try_get("tables")?, row.try_get("example")?));
    match foreign()? {
        (0, _) => Ok(()),
        (tables, example) => Err(MigrateError::Foreign { tables, example }),
    }
}

/// Compares without changing anything; faults that [`up`] would refuse are errors here too.
pub async fn status(db: &Db) -> Result<Status, MigrateError> {
    Files::embedded()?.status(db).await
}

/// Same as [`status`], on the caller's connection.
pub async fn status_on(client: &Client) -> Result<Status, MigrateError> {
    Files::embedded()?.status_on(client).await
}

/// Checks the schema for commands that change nothing: an outdated one is an error with its remedy.
pub async fn require_current(db: &Db) -> Result<(), MigrateError> {
    match status(db).await?.missing() {
        0 => Ok(()),
        missing => Err(MigrateError::Outdated { missing }),
    }
}

/// Whether a migration of this name is among those of this program.
pub fn knows(migration: &str) -> bool {
    MIGRATIONS.iter().any(|(name, _)| *name == migration)
}

/// Changes when any of the files does.
pub fn digest() -> String {
    digest_of(&[MIGRATIONS, OBJECTS, &[(task_kinds::NAME, &task_kinds::sql())]].concat())
}

/// Files to compare the database with: those in this program, or a test's own.
struct Files {
    migrations: Vec<Migration>,
    objects: Vec<Object>,
    /// Revision of all objects together; it only grows.
    revision: i32,
}

/// The objects in the database.
#[derive(Default)]
struct DatabaseObjects {
    checksums: BTreeMap<String, String>,
    revision: i32,
}

struct Migration {
    version: i32,
    name: String,
    sql: String,
}

struct Object {
    name: String,
    sql: String,
}

impl Files {
    fn embedded() -> Result<Files, MigrateError> {
        let bad = |_| MigrateError::BadName(format!("objects/REVISION ({OBJECTS_REVISION})"));
        let (revision, _) = OBJECTS_REVISION.trim().split_once(' ').unwrap_or_default();
        let kinds = task_kinds::sql();
        let objects = [OBJECTS, &[(task_kinds::NAME, &kinds)]].concat();
        Files::new(MIGRATIONS, &objects, revision.parse().map_err(bad)?)
    }

    fn new(migrations: &[(&str, &str)], objects: &[(&str, &str)], revision: i32) -> Result<Files, MigrateError> {
        let migrations: Vec<_> = migrations.iter().map(|file| Migration::new(*file)).collect::<Result<_, _>>()?;
        let mut seen = BTreeSet::new();
        if let Some(duplicate) = migrations.iter().find(|migration| !seen.insert(migration.version)) {
            return Err(MigrateError::BadName(duplicate.name.clone()));
        }
        let objects = objects.iter().map(|(name, sql)| Object { name: (*name).to_owned(), sql: (*sql).to_owned() });
        Ok(Files { migrations, objects: objects.collect(), revision })
    }

    async fn up(&self, db: &Db) -> Result<Report, MigrateError> {
        let mut attempts = 1;
        loop {
            if self.status(db).await?.is_current() {
                return Ok(Report::default());
            }
            match self.apply(db).await {
                Err(error @ MigrateError::Locked { .. }) if attempts < MAX_LOCK_ATTEMPTS => {
                    events::migration_waits(&error);
                }
                answer => return answer,
            }
            attempts += 1;
            tokio::time::sleep(LOCK_PAUSE).await;
        }
    }

    async fn apply(&self, db: &Db) -> Result<Report, MigrateError> {
        let encoding = server_info::read(&db.client().await?).await?.encoding;
        if encoding != server_info::ENCODING {
            return Err(MigrateError::Encoding(encoding));
        }
        let tx = db.begin_maintenance().await?;
        let schema: Option<String> = first_column(&tx.query_one("SELECT current_schema()::text", &[]).await?)?;
        if schema.is_none_or(|schema| schema == "pg_catalog") {
            return Err(MigrateError::NoSchema);
        }
        // a wait for another process that migrates delays no other session
        tx.batch("SET LOCAL lock_timeout = 0").await?;
        tx.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        tx.batch(&format!("SET LOCAL lock_timeout = {}", LOCK_TIMEOUT.as_millis())).await?;
        tx.batch(sql!("schema/migrate/bookkeeping.sql")).await.map_err(failed("the list of migrations"))?;
        let status = self.compare(&tx).await?;
        for migration in self.migrations.iter().filter(|migration| status.pending.contains(&migration.name)) {
            migration.apply(&tx).await?;
        }
        // a migration may have dropped objects, and their rows with them
        let objects = self.compare(&tx).await?.objects;
        for object in self.objects.iter().filter(|object| objects.contains(&object.name)) {
            object.replace(&tx, self.revision).await?;
        }
        tx.commit().await?;
        Ok(Report { applied: status.pending, objects })
    }

    async fn status(&self, db: &Db) -> Result<Status, MigrateError> {
        self.status_on(&db.client().await?).await
    }

    async fn status_on(&self, client: &Client) -> Result<Status, MigrateError> {
        match self.compare(client).await {
            Err(MigrateError::Db(DbError::NoTable(_))) => self.against(Vec::new(), &DatabaseObjects::default()),
            compared => compared,
        }
    }

    async fn compare(&self, client: &Client) -> Result<Status, MigrateError> {
        // planned each time: one wait for the server, and most processes ask once
        let rows = client.query_planned(sql!("schema/migrate/made.sql"), &[]).await?;
        let (mut applied, mut made) = (Vec::new(), DatabaseObjects::default());
        for row in &rows {
            match row.try_get("kind").map_err(DbError::from)? {
                "migration" => applied.push(AppliedMigration::read(row)?),
                _ => made.add(row)?,
            }
        }
        self.against(applied, &made)
    }

    /// Compares files and database. An applied migration that is unknown or was changed is an error.
    fn against(&self, applied: Vec<AppliedMigration>, made: &DatabaseObjects) -> Result<Status, MigrateError> {
        for done in &applied {
            let Some(file) = self.migrations.iter().find(|migration| migration.version == done.version) else {
                return Err(MigrateError::Unknown(done.name.clone()));
            };
            if checksum(&file.sql) != done.checksum {
                return Err(MigrateError::Changed(file.name.clone()));
            }
        }
        let is_pending = |version: i32| applied.iter().all(|done| done.version != version);
        let pending = self.migrations.iter().filter(|migration| is_pending(migration.version));
        let pending = pending.map(|migration| migration.name.clone()).collect();
        let has_newer_objects = made.revision > self.revision;
        let differs =
            |object: &&Object| !has_newer_objects && made.checksums.get(&object.name) != Some(&checksum(&object.sql));
        let objects = self.objects.iter().filter(differs).map(|object| object.name.clone()).collect();
        Ok(Status { applied, pending, objects, has_newer_objects })
    }
}

impl AppliedMigration {
    fn read(row: &Row) -> Result<AppliedMigration, DbError> {
        Ok(AppliedMigration {
            version: row.try_get("number")?,
            name: row.try_get("name")?,
            applied_at: row.try_get("applied_at")?,
            checksum: row.try_get("checksum")?,
        })
    }
}

impl DatabaseObjects {
    fn add(&mut self, row: &Row) -> Result<(), DbError> {
        self.checksums.insert(row.try_get("name")?, row.try_get("checksum")?);
        self.revision = self.revision.max(row.try_get("number")?);
        Ok(())
    }
}

impl Migration {
    fn new((name, sql): (&str, &str)) -> Result<Migration, MigrateError> {
        let bad = || MigrateError::BadName(name.to_owned());
        let (number, _) = name.split_once('_').ok_or_else(bad)?;
        let version = number.parse().map_err(|_| bad())?;
        Ok(Migration { version, name: name.to_owned(), sql: sql.to_owned() })
    }

    async fn apply(&self, tx: &Client) -> Result<(), MigrateError> {
        tx.batch(&self.sql).await.map_err(failed(&self.name))?;
        let note = sql!("schema/migrate/note_migration.sql");
        tx.execute(note, &[&self.version, &self.name, &checksum(&self.sql)]).await?;
        Ok(())
    }
}

impl Object {
    /// Replaces an object in place where Postgres can, which disturbs no user of it. If Postgres refuses (a
    /// function with another result, a view that loses a column), it is dropped and created again.
    async fn replace(&self, tx: &Client, revision: i32) -> Result<(), MigrateError> {
        let failed = || failed(&self.name);
        let before = self.functions(tx).await?;
        tx.batch("SAVEPOINT object").await?;
        match tx.batch(&self.sql).await {
            Ok(()) => {
                let after = self.functions(tx).await?;
                let outdated = before.iter().filter(|function| after.contains(function));
                drop_functions(tx, outdated).await.map_err(failed())?;
            }
            Err(DbError::Other(_)) => {
                tx.batch("ROLLBACK TO SAVEPOINT object").await?;
                self.drop_created(tx, &before).await.map_err(failed())?;
                tx.batch(&self.sql).await.map_err(failed())?;
            }
            Err(error) => return Err(failed()(error)),
        }
        let note = sql!("schema/migrate/note_object.sql");
        tx.execute(note, &[&self.name, &checksum(&self.sql), &revision]).await?;
        Ok(())
    }

    /// Drops the objects that the file creates, the last first: a function may return a view's rows, and a
    /// view may call a function.
    async fn drop_created(&self, tx: &Client, functions: &[Function]) -> Result<(), DbError> {
        let created: Vec<_> = self.created().collect();
        for (kind, name) in created.into_iter().rev() {
            match kind {
                "VIEW" => tx.batch(&format!("DROP VIEW IF EXISTS {name}")).await?,
                "FUNCTION" => drop_functions(tx, functions.iter().filter(|function| function.name == name)).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Functions in the database whose names occur in this file.
    async fn functions(&self, tx: &Client) -> Result<Vec<Function>, DbError> {
        let names: Vec<&str> = self.created().filter(|(kind, _)| *kind == "FUNCTION").map(|(_, name)| name).collect();
        read_all(&tx.query(sql!("schema/migrate/functions.sql"), &[&names]).await?)
    }

    /// Kind and name of each object after `CREATE` or `CREATE OR REPLACE` at the beginning of a line, in the
    /// file's order.
    fn created(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sql.lines().filter_map(|line| {
            let rest = line.strip_prefix("CREATE ")?;
            let (kind, rest) = rest.strip_prefix("OR REPLACE ").unwrap_or(rest).split_once(' ')?;
            Some((kind, rest.split(['(', ' ']).next()?))
        })
    }
}

/// A function in the database. If its `version` is unchanged after its file has run, it was not replaced: it
/// has other arguments, and would make calls ambiguous.
#[derive(PartialEq)]
struct Function {
    name: String,
    signature: String,
    version: String,
}

rows! {
    Function { name, signature, version }
}

async fn drop_functions(tx: &Client, functions: impl Iterator<Item = &Function>) -> Result<(), DbError> {
    for function in functions {
        tx.batch(&format!("DROP FUNCTION {}", function.signature)).await?;
    }
    Ok(())
}

fn failed(name: &str) -> impl FnOnce(DbError) -> MigrateError {
    let name = name.to_owned();
    move |source| match source {
        DbError::Contention(_) => MigrateError::Locked { name, source },
        _ => MigrateError::Failed { name, source },
    }
}

/// The same on every checkout, whatever its line endings.
fn checksum(sql: &str) -> String {
    sha256_hex(sql.replace("\r\n", "\n"))
}

/// Digest of all these files.
fn digest_of(files: &[(&str, &str)]) -> String {
    let all: Vec<&str> = files.iter().flat_map(|(name, sql)| [*name, *sql]).collect();
    checksum(&all.join("\0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects in a database, as a program of that revision left them.
    fn made(objects: &[(&str, &str)], revision: i32) -> DatabaseObjects {
        let checksums = objects.iter().map(|(name, sql)| ((*name).to_owned(), checksum(sql))).collect();
        DatabaseObjects { checksums, revision }
    }

    const FIRST: (&str, &str) = ("0001_first", "CREATE TABLE a ()");
    const THIRD: (&str, &str) = ("0003_third", "CREATE TABLE c ()");

    fn applied((name, sql): (&str, &str)) -> AppliedMigration {
        let version = Migration::new((name, sql)).unwrap().version;
        AppliedMigration { version, name: name.to_owned(), applied_at: DateTime::UNIX_EPOCH, checksum: checksum(sql) }
    }

    #[test]
    fn a_migration_that_landed_late_is_pending_too() {
        let files = Files::new(&[FIRST, ("0002_second", ""), THIRD], &[], 1).unwrap();
        let status = files.against(vec![applied(FIRST), applied(THIRD)], &DatabaseObjects::default()).unwrap();
        assert_eq!(status.pending, ["0002_second"]);
    }

    #[test]
    fn an_applied_migration_without_a_file_is_refused_wherever_it_stands() {
        let files = Files::new(&[THIRD], &[], 1).unwrap();
        let error = files.against(vec![applied(FIRST)], &DatabaseObjects::default()).unwrap_err();
        assert!(matches!(error, MigrateError::Unknown(name) if name == FIRST.0));
    }

    #[test]
    fn only_objects_that_differ_are_replaced() {
        let files = Files::new(&[], &[("10_a", "a"), ("20_b", "b")], 2).unwrap();
        let status = files.against(Vec::new(), &made(&[("10_a", "a"), ("20_b", "older")], 1)).unwrap();
        assert_eq!(status.objects, ["20_b"]);
    }

    #[test]
    fn an_older_program_leaves_newer_objects_as_they_are() {
        let files = Files::new(&[], &[("10_a", "a"), ("20_b", "b")], 2).unwrap();
        let status = files.against(Vec::new(), &made(&[("10_a", "newer")], 3)).unwrap();
        assert!(status.is_current() && status.has_newer_objects, "{status:?}");
        let status = files.against(Vec::new(), &made(&[("10_a", "other")], 2)).unwrap();
        assert_eq!(status.objects, ["10_a", "20_b"], "of the same revision, the last one started wins");
    }

    #[test]
    fn the_names_of_a_file_are_found() {
        let sql = "CREATE OR REPLACE FUNCTION a(x int) RETURNS int\nCREATE FUNCTION b() x\nCREATE OR REPLACE VIEW v AS\n  CREATE FUNCTION no()";
        let object = Object { name: String::new(), sql: sql.to_owned() };
        let created: Vec<_> = object.created().collect();
        assert_eq!(created, [("FUNCTION", "a"), ("FUNCTION", "b"), ("VIEW", "v")]);
    }

    #[test]
    fn the_revision_of_the_objects_grows_when_they_change() {
        let (revision, digest) = OBJECTS_REVISION.trim().split_once(' ').unwrap();
        let now = &digest_of(OBJECTS)[..16];
        let next = revision.parse::<i32>().unwrap() + 1;
        assert_eq!(digest, now, "objects have changed: migrations/objects/REVISION must be \"{next} {now}\"");
    }

    #[test]
    fn line_endings_change_no_checksum() {
        assert_eq!(checksum("a;\r\nb;\r\n"), checksum("a;\nb;\n"));
        assert_ne!(checksum("a;"), checksum("b;"));
    }

    #[test]
    fn names_are_a_number_and_a_subject_and_numbers_are_unique() {
        for bad in ["first", "x_first", "0001"] {
            assert!(matches!(Files::new(&[(bad, "")], &[], 1), Err(MigrateError::BadName(name)) if name == bad));
        }
        let duplicates = Files::new(&[FIRST, ("1_again", "")], &[], 1);
        assert!(matches!(duplicates, Err(MigrateError::BadName(name)) if name == "1_again"));
    }

    #[test]
    fn the_files_of_this_program_are_in_order() {
        let files = Files::embedded().unwrap();
        assert!(!files.migrations.is_empty() && !files.objects.is_empty());
        assert!(files.migrations.is_sorted_by_key(|migration| migration.version));
    }
}
