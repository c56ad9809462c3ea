//! `DbError`: what a failed call means for the caller, read off the SQLSTATE once.

use thiserror::Error;
use tokio_postgres::error::SqlState;

#[derive(Debug, Error)]
pub enum DbError {
    /// A unique or exclusion rule spoke: somebody else was first. `constraint` names the rule.
    #[error("conflict with {constraint}: {detail}")]
    Conflict { constraint: String, detail: String },
    /// What was asked for is not there.
    #[error("{0} does not exist")]
    Missing(String),
    /// The database cannot be reached or is shutting down: try again later.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// It did not answer within the deadline: it is overloaded, or has just gone away; or this statement is too slow for it, and
    /// will be the next time.
    #[error("the database was too slow: {0}")]
    TooSlow(String),
    /// Anything else, which trying again does not mend.
    #[error("database: {0}")]
    Other(String),
}

impl DbError {
    /// May pass by itself.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, DbError::Unavailable(_) | DbError::TooSlow(_))
    }
}

impl DbError {
    /// What went wrong before there was a connection may pass by itself, even a refused password.
    pub(super) fn from_connecting(error: tokio_postgres::Error) -> Self {
        match DbError::from(error) {
            DbError::Other(text) => DbError::Unavailable(text),
            other => other,
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
        let detail = db.detail().unwrap_or(db.message()).to_owned();
        match db.code() {
            code if *code == SqlState::UNIQUE_VIOLATION || *code == SqlState::EXCLUSION_VIOLATION => {
                DbError::Conflict { constraint: db.constraint().unwrap_or("a unique rule").to_owned(), detail }
            }
            // a function of ours looked for what is no longer there
            code if *code == SqlState::NO_DATA_FOUND => DbError::Missing(db.message().to_owned()),
            code if *code == SqlState::QUERY_CANCELED => DbError::TooSlow(db.message().to_owned()),
            code if means_unavailable(code) => DbError::Unavailable(db.message().to_owned()),
            code => DbError::Other(format!("{} ({})", db.message(), code.code())),
        }
    }
}

impl From<deadpool_postgres::PoolError> for DbError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => DbError::from_connecting(error),
            deadpool_postgres::PoolError::Timeout(_) => {
                DbError::Unavailable("no free connection in the pool within its deadline".to_owned())
            }
            other => DbError::Unavailable(other.to_string()),
        }
    }
}

/// Shut down, starting up, out of connections, demoted to a replica, deadlock victims, plans that a migration outdated: all pass.
fn means_unavailable(code: &SqlState) -> bool {
    let text = code.code();
    text.starts_with("57")
        || text.starts_with("08")
        || text.starts_with("53")
        || *code == SqlState::T_R_DEADLOCK_DETECTED
        || *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::LOCK_NOT_AVAILABLE
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
        || *code == SqlState::FEATURE_NOT_SUPPORTED
        || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>())
}

fn with_cause(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
