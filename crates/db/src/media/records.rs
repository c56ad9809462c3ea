//! The tables of [`contract::media`]: rows that people keep for media jobs, read and written as JSON by the
//! names of their columns.

use thiserror::Error;
use tokio_postgres::types::Json;

use crate::statements::{document, first_column, sql};
use crate::{Client, DbError, Tx};
use contract::checks::BadField;
use contract::media::{Record, RecordKind};
use strum::VariantArray;

const LIST: &str = sql!("media/records/list.sql");
const INSERT: &str = sql!("media/records/insert.sql");
const UPDATE: &str = sql!("media/records/update.sql");
const DELETE: &str = sql!("media/records/delete.sql");

/// Reason why a record was not changed.
#[derive(Debug, Error)]
pub enum RecordError {
    #[error("another {} has the same {}", .kind.noun(), .kind.key())]
    DuplicateKey { kind: RecordKind },
    /// Records of the kind `by` refer to it.
    #[error("{} {id} is in use: first remove or change the {by} that name it", .kind.noun())]
    InUse { kind: RecordKind, id: i64, by: RecordKind },
    #[error(transparent)]
    Field(#[from] BadField),
    #[error("{noun} {id} does not exist")]
    Missing { noun: &'static str, id: i64 },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Lists at most `limit` records after the one with this id, in the order of their ids.
pub async fn list<R: Record>(client: &Client, after: Option<i64>, limit: i64) -> Result<Vec<R>, DbError> {
    read(client, None, after, limit).await
}

pub async fn get<R: Record>(client: &Client, id: i64) -> Result<R, RecordError> {
    read(client, Some(id), None, 1).await?.pop().ok_or(RecordError::Missing { noun: R::KIND.noun(), id })
}

/// Adds a record whose fields are checked; returns its id.
pub async fn insert<R: Record>(tx: &Tx, draft: &R::Draft) -> Result<i64, RecordError> {
    let sql = of_kind(INSERT, R::KIND);
    let row = tx.query_one(&sql, &[&Json(draft)]).await.map_err(|error| refused(R::KIND, error))?;
    let id = first_column(&row)?;
    check_references(tx, R::KIND, id).await?;
    Ok(id)
}

pub async fn update<R: Record>(tx: &Tx, id: i64, change: &R::Change) -> Result<(), RecordError> {
    let sql = of_kind(UPDATE, R::KIND);
    let rows = tx.execute(&sql, &[&id, &Json(change)]).await.map_err(|error| refused(R::KIND, error))?;
    found(R::KIND, id, rows)?;
    check_references(tx, R::KIND, id).await
}

pub async fn delete(tx: &Tx, kind: RecordKind, id: i64) -> Result<(), RecordError> {
    if kind == RecordKind::Accounts {
        tx.execute(sql!("media/accounts/hand_over_items.sql"), &[&id]).await?;
    }
    let sql = of_kind(DELETE, kind);
    let rows = tx.execute(&sql, &[&id]).await.map_err(|error| match error {
        DbError::Reference(detail) => in_use(kind, id, &detail),
        other => RecordError::Db(other),
    })?;
    found(kind, id, rows)
}

/// The statements of every kind, each with the name of its template.
pub(crate) fn generated() -> impl Iterator<Item = (&'static str, String)> {
    let templates = [
        ("media/records/list.sql", LIST),
        ("media/records/insert.sql", INSERT),
        ("media/records/update.sql", UPDATE),
        ("media/records/delete.sql", DELETE),
    ];
    let of_all = move |kind: &RecordKind| {
        let kind = *kind;
        templates.map(|(name, template)| (name, of_kind(template, kind)))
    };
    RecordKind::VARIANTS.iter().flat_map(of_all)
}

/// A template's statement for the table of `kind`.
fn of_kind(template: &str, kind: RecordKind) -> String {
    let fields = kind.fields().join(", ");
    template.replace("{table}", table(kind)).replace("{fields}", &fields)
}

fn table(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Accounts => "media_accounts",
        RecordKind::ChangeRules => "change_rules",
        RecordKind::Channels => "watched_channels",
        RecordKind::Credentials => "credentials",
        RecordKind::Endpoints => "notification_endpoints",
        RecordKind::Forums => "forums",
        RecordKind::People => "people",
        RecordKind::Rules => "notification_rules",
        RecordKind::Searches => "saved_searches",
        RecordKind::Threads => "watched_threads",
    }
}

async fn read<R: Record>(client: &Client, id: Option<i64>, after: Option<i64>, limit: i64) -> Result<Vec<R>, DbError> {
    let sql = of_kind(LIST, R::KIND);
    let rows = client.query(&sql, &[&id, &after, &limit]).await?;
    rows.iter().map(|row| document(row, "record")).collect()
}

/// Whether the credential of a record, if it has one, is for its service and of a kind that its job takes.
async fn check_references(tx: &Tx, kind: RecordKind, id: i64) -> Result<(), RecordError> {
    let (sql, takes) = match kind {
        RecordKind::Accounts => (sql!("media/accounts/credential.sql"), "password, cookies or token"),
        RecordKind::Forums => (sql!("media/forums/credential.sql"), "cookies or, for Discourse, api_key or token"),
        _ => return Ok(()),
    };
    let bad = |fault| Err(RecordError::Field(BadField { field: "credential_id", fault }));
    let Some(row) = tx.query_opt(sql, &[&id]).await? else { return Ok(()) };
    match (row.try_get("platform").map_err(DbError::from)?, row.try_get("is_usable").map_err(DbError::from)?) {
        (Some(platform), _) => {
            let platform: String = platform;
            bad(format!("the credential is for {platform}"))
        }
        (None, false) => bad(format!("it takes a credential of the kind {takes}")),
        (None, true) => Ok(()),
    }
}

fn found(kind: RecordKind, id: i64, rows: u64) -> Result<(), RecordError> {
    match rows {
        0 => Err(RecordError::Missing { noun: kind.noun(), id }),
        _ => Ok(()),
    }
}

fn refused(kind: RecordKind, error: DbError) -> RecordError {
    match error {
        DbError::Conflict { .. } => RecordError::DuplicateKey { kind },
        DbError::Reference(detail) => match referring_field(kind, &detail) {
            Some(field) => BadField { field, fault: "names a record that does not exist".to_owned() }.into(),
            None => RecordError::Db(DbError::Reference(detail)),
        },
        other => RecordError::Db(other),
    }
}

/// `detail`: `Key (id)=(7) is still referenced from table "watched_threads".`
fn in_use(kind: RecordKind, id: i64, detail: &str) -> RecordError {
    let by = RecordKind::VARIANTS.iter().find(|by| detail.ends_with(&format!("table \"{}\".", table(**by))));
    match by {
        Some(by) => RecordError::InUse { kind, id, by: *by },
        None => RecordError::Db(DbError::Reference(detail.to_owned())),
    }
}

/// The field of `Key (forum_id)=(7) is not present in table "forums".`
fn referring_field(kind: RecordKind, detail: &str) -> Option<&'static str> {
    kind.fields().iter().copied().find(|field| detail.starts_with(&format!("Key ({field})=")))
}
