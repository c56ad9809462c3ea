//! Exit codes, and the only place where an error becomes an exit code.

use std::io::{ErrorKind, Write};

use thiserror::Error;

use super::{ClientError, tip};
use crate::app::AppError;
use crate::app::database::OpenError;
use db::DbError;
use db::schema::migrate::MigrateError;
use private_server::PrivateServerError;
use settings::ConfigErrors;
use storage::PlaceError;
use telemetry::log;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    Ok = 0,
    Failure = 1,
    Usage = 2,
    NotFound = 3,
    Conflict = 4,
    /// Some items failed, and some did not.
    PartialFailure = 5,
    /// The database, a port or a program that drover needs is unavailable.
    Unavailable = 69,
    BadConfig = 78,
    Interrupted = 130,
}

/// An error that knows its exit code; commands return it by `?` or `bail!`.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct CliError {
    pub code: ExitCode,
    pub message: String,
}

impl CliError {
    pub fn usage(message: impl Into<String>) -> Self {
        CliError { code: ExitCode::Usage, message: message.into() }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        CliError { code: ExitCode::NotFound, message: message.into() }
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        CliError { code: ExitCode::Conflict, message: message.into() }
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        CliError { code: ExitCode::Unavailable, message: message.into() }
    }

    pub fn bad_config(message: impl Into<String>) -> Self {
        CliError { code: ExitCode::BadConfig, message: message.into() }
    }
}

/// Reports an error, once, and returns the process's exit code. `log_format`: the format of the command's log.
pub fn code(result: anyhow::Result<ExitCode>, log_format: &str) -> std::process::ExitCode {
    let code = match result {
        Ok(code) => code,
        // `drover tasks list | head`: the reader has closed the pipe
        Err(error) if is_broken_pipe(&error) => ExitCode::Ok,
        Err(error) => {
            log::report_error(&format!("{error:#}"), log_format);
            of(&error)
        }
    };
    std::process::ExitCode::from(code as u8)
}

/// Prints clap's answers: help and version to stdout, usage errors to stderr.
pub fn usage(error: clap::Error) -> std::process::ExitCode {
    let error = tip::naming_bulk(error);
    let text = error.render().to_string();
    // a failure to write cannot be reported anywhere else
    let _ = if error.use_stderr() {
        std::io::stderr().write_all(text.as_bytes())
    } else {
        std::io::stdout().write_all(text.as_bytes())
    };
    std::process::ExitCode::from(error.exit_code() as u8)
}

fn of(error: &anyhow::Error) -> ExitCode {
    error.chain().find_map(known).unwrap_or(ExitCode::Failure)
}

fn known(cause: &(dyn std::error::Error + 'static)) -> Option<ExitCode> {
    if let Some(error) = cause.downcast_ref::<CliError>() {
        return Some(error.code);
    }
    if let Some(error) = cause.downcast_ref::<ClientError>() {
        return Some(error.code);
    }
    let is_of_setup = matches!(cause.downcast_ref(), Some(AppError::Services(_) | AppError::Storage(_)));
    if cause.is::<ConfigErrors>() || cause.is::<PlaceError>() || is_of_setup {
        return Some(ExitCode::BadConfig);
    }
    let is_bad_url = matches!(cause.downcast_ref(), Some(OpenError::BadUrl(_)));
    if is_bad_url || matches!(cause.downcast_ref(), Some(MigrateError::Foreign { .. } | MigrateError::NoSchema)) {
        return Some(ExitCode::BadConfig);
    }
    if cause.is::<PrivateServerError>() || matches!(cause.downcast_ref(), Some(MigrateError::Outdated { .. })) {
        return Some(ExitCode::Unavailable);
    }
    match cause.downcast_ref::<DbError>()? {
        DbError::Conflict { .. } | DbError::Reference(_) | DbError::Unfit(_) => Some(ExitCode::Conflict),
        DbError::Missing(_) => Some(ExitCode::NotFound),
        DbError::Unavailable(_) | DbError::Contention(_) | DbError::TooSlow(_) => Some(ExitCode::Unavailable),
        DbError::NoTable(_) => Some(ExitCode::Unavailable),
        DbError::Aborted | DbError::Other(_) => Some(ExitCode::Failure),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == ErrorKind::BrokenPipe))
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usage(CliError::usage("no").into(), ExitCode::Usage)]
    #[case::bad_configuration(ConfigErrors::default().into(), ExitCode::BadConfig)]
    #[case::no_database(DbError::Unavailable("down".into()).into(), ExitCode::Unavailable)]
    #[case::bad_database_url(OpenError::BadUrl("no".into()).into(), ExitCode::BadConfig)]
    #[case::no_private_server(PrivateServerError::NoAccount.into(), ExitCode::Unavailable)]
    #[case::no_database_at_start(AppError::from(DbError::Unavailable("down".into())).into(), ExitCode::Unavailable)]
    #[case::no_driver(AppError::from(PlaceError::NoDriver).into(), ExitCode::BadConfig)]
    #[case::bad_data_file(AppError::Services(ConfigErrors::default().into()).into(), ExitCode::BadConfig)]
    #[case::not_there(DbError::Missing("task 7".into()).into(), ExitCode::NotFound)]
    #[case::taken(DbError::Conflict { constraint: "c".into(), detail: "d".into() }.into(), ExitCode::Conflict)]
    #[case::anything_else(anyhow::anyhow!("odd"), ExitCode::Failure)]
    fn an_error_has_its_exit_code(#[case] error: anyhow::Error, #[case] code: ExitCode) {
        assert_eq!(of(&error), code);
        let wrapped = Err::<(), _>(error).context("while listing").unwrap_err();
        assert_eq!(of(&wrapped), code, "with context");
    }
}
