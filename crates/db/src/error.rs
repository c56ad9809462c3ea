//! `DbError`: the meaning of a failed call for its caller, derived once from the SQLSTATE.

use std::error::Error as _;
use std::time::Duration;

use deadpool_postgres::{PoolError, TimeoutType};
use thiserror::Error;
use tokio_postgres::error::{DbError as DbServerError, SqlState};

use super::connection::server::tls_remedy;
use domain::task::disposition::{Disposition, HasDisposition};

/// SQLSTATE that drover's own functions raise; no state of the server has this code.
const UNFIT: &str = "DV001";
const POOLER: &str = "a pooler in transaction mode is in front of the server; set database.pooler = true";
/// How long a task waits after the database became unavailable.
const SNOOZE: Duration = Duration::from_secs(1);

#[derive(Debug, Error)]
pub enum DbError {
    /// A unique or exclusion constraint was violated: another row has the key. `constraint` names it.
    #[error("conflict with {constraint}: {detail}")]
    Conflict { constraint: String, detail: String },
    /// Another row refers to this one, or this one to a row that does not exist.
    #[error("{0}")]
    Reference(String),
    /// The requested row does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// The server cannot be reached, shuts down, lacks resources, or does not answer. The statement itself
    /// may be fine. The outcome of a COMMIT without an answer is unknown: look before running its transaction
    /// again.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// The server undid the transaction because of another one: deadlock, serialisation failure, a lock not
    /// granted in time, a plan that a migration made invalid. The same transaction may succeed when run again
    /// from its beginning.
    #[error("the transaction was in conflict with another one: {0}")]
    Contention(String),
    /// The server is alive, and the statement ran longer than its deadline. It may be as slow the next time.
    #[error("the statement took too long: {0}")]
    TooSlow(String),
    /// The stored data has another shape than the statement needs. Only drover's own functions raise this, in
    /// words for people.
    #[error("{0}")]
    Unfit(String),
    /// The schema lacks a table.
    #[error("{0}: bring the schema up to date with `drover migrate up`")]
    NoTable(String),
    /// An earlier statement of the transaction failed, and the server refuses this one. That one's failure is
    /// what counts.
    #[error("an earlier statement of the transaction failed")]
    Aborted,
    /// Anything else; another try fails as well.
    #[error("database: {0}")]
    Other(String),
}

impl DbError {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, DbError::Unavailable(_) | DbError::Contention(_) | DbError::TooSlow(_))
    }

    /// Whether the cause is outside of the statement: another try costs the task nothing, and a transaction
    /// whose COMMIT was not sent may be run again.
    pub fn is_external(&self) -> bool {
        matches!(self, DbError::Unavailable(_) | DbError::Contention(_))
    }

    /// Classifies failures before there is a connection: each of them may pass by itself, even a refused
    /// password.
    pub(super) fn from_connecting(error: tokio_postgres::Error) -> Self {
        let remedy = tls_remedy(&error).map(|remedy| format!("; {remedy}")).unwrap_or_default();
        match DbError::from(error) {
            DbError::Other(text) | DbError::Unavailable(text) => DbError::Unavailable(format!("{text}{remedy}")),
            other => other,
        }
    }
}

/// An outage of the database and a conflict with another transaction cost no retry, however often they
/// happen. Everything else costs one: a slow statement, a violated constraint, an error of the statement.
impl HasDisposition for DbError {
    fn disposition(&self) -> Disposition {
        match self.is_external() {
            true => Disposition::snooze(SNOOZE),
            false => Disposition::Retry,
        }
    }
}

impl From<tokio_postgres::Error> for DbError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            return if error.is_closed() || is_io(&error) {
                DbError::Unavailable(with_cause(&error))
            } else {
                DbError::Other(with_cause(&error))
            };
        };
        let message = db.message().to_owned();
        match db.code() {
            code if *code == SqlState::UNIQUE_VIOLATION || *code == SqlState::EXCLUSION_VIOLATION => {
                DbError::Conflict {
                    constraint: db.constraint().unwrap_or("a unique constraint").to_owned(),
                    detail: db.detail().unwrap_or(db.message()).to_owned(),
                }
            }
            code if *code == SqlState::FOREIGN_KEY_VIOLATION => {
                DbError::Reference(db.detail().unwrap_or(db.message()).to_owned())
            }
            // raised by drover's own functions
            code if *code == SqlState::NO_DATA_FOUND => DbError::Missing(message),
            code if *code == SqlState::UNDEFINED_TABLE => DbError::NoTable(message),
            code if code.code() == UNFIT => DbError::Unfit(message),
            code if *code == SqlState::QUERY_CANCELED => DbError::TooSlow(message),
            code if is_contention(code) || is_outdated_plan(db) => DbError::Contention(message),
            code if means_unavailable(code) => DbError::Unavailable(message),
            code if *code == SqlState::IN_FAILED_SQL_TRANSACTION => DbError::Aborted,
            code if is_foreign_statement(code) => DbError::Other(format!("{message} ({}): {POOLER}", code.code())),
            code => DbError::Other(format!("{message} ({})", code.code())),
        }
    }
}

impl From<PoolError> for DbError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => DbError::from_connecting(error),
            PoolError::Timeout(TimeoutType::Wait) => {
                DbError::Unavailable("every connection of the pool is in use".to_owned())
            }
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => {
                DbError::Unavailable("the server does not answer".to_owned())
            }
            other => DbError::Unavailable(other.to_string()),
        }
    }
}

/// A prepared statement is missing, or is there already: the connection is not the one that it was.
fn is_foreign_statement(code: &SqlState) -> bool {
    *code == SqlState::INVALID_SQL_STATEMENT_NAME || *code == SqlState::DUPLICATE_PSTATEMENT
}

fn is_contention(code: &SqlState) -> bool {
    *code == SqlState::T_R_DEADLOCK_DETECTED
        || *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::LOCK_NOT_AVAILABLE
}

/// "cached plan must not change result type": the statement was prepared before a migration. Features that
/// Postgres does not support have the same SQLSTATE, and the message depends on the server's language.
fn is_outdated_plan(error: &DbServerError) -> bool {
    *error.code() == SqlState::FEATURE_NOT_SUPPORTED && error.routine() == Some("RevalidateCachedQuery")
}

/// Operator intervention (57), connection failures (08), insufficient resources (53), and a primary that
/// became a standby.
fn means_unavailable(code: &SqlState) -> bool {
    let class = code.code();
    class.starts_with("57")
        || class.starts_with("08")
        || class.starts_with("53")
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
        || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|cause| cause.is::<std::io::Error>())
}

fn with_cause(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
