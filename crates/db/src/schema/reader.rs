//! Logins of analysts: roles of the server that may read the views of `drover_v1`, and nothing else.
//!
//! In: the name of a login. Out: the login with its limits, or the statements that make it, for an administrator. It must not
//! know passwords: an administrator sets them.

use std::str::FromStr;

use thiserror::Error;

use crate::statements::{FromRow, rows, sql};
use crate::{Client, Db, DbError};

/// Stands for the login in `roles.sql`.
const PLACEHOLDER: &str = "READER";
const MAX_NAME_CHARS: usize = 63;

/// The name of a login: one that SQL needs no quotes for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginName(String);

#[derive(Debug, Error)]
pub enum ReaderError {
    #[error("the role {0} exists already, and is no reader: choose another name")]
    Taken(String),
    #[error("drover's account may not make roles")]
    NoRight,
    #[error(transparent)]
    Db(#[from] DbError),
}

struct State {
    may_make_roles: bool,
    exists: bool,
    is_reader: bool,
}

rows! {
    State { may_make_roles, exists, is_reader }
}

impl FromStr for LoginName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<LoginName, Self::Err> {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        let begins = text.bytes().next().is_some_and(is_letter);
        let is_plain = begins && text.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit());
        match is_plain && text.len() <= MAX_NAME_CHARS && !text.starts_with("pg_") && text != "drover_reader" {
            true => Ok(LoginName(text.to_owned())),
            false => Err(
                "a login has 1 to 63 lower-case letters, digits and underscores, and does not begin with a digit or pg_",
            ),
        }
    }
}

impl LoginName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Statements that make the login and open `drover_v1` to it, for an administrator to run in this database.
pub fn statements(login: &LoginName) -> String {
    [roles(login).as_str(), sql!("schema/reader/grants.sql")].concat()
}

/// Makes the login, unless it is a reader already, and opens `drover_v1` to it. Returns whether the login was made.
pub async fn add(db: &Db, login: &LoginName) -> Result<bool, ReaderError> {
    let tx = db.begin().await?;
    let is_made = add_role(&tx, login).await?;
    tx.batch(sql!("schema/reader/grants.sql")).await?;
    tx.commit().await?;
    Ok(is_made)
}

async fn add_role(client: &Client, login: &LoginName) -> Result<bool, ReaderError> {
    let row = client.query_one(sql!("schema/reader/state.sql"), &[&login.as_str()]).await?;
    let State { may_make_roles, exists, is_reader } = State::from_row(&row)?;
    match (exists, is_reader) {
        (true, true) => return Ok(false),
        (true, false) => return Err(ReaderError::Taken(login.0.clone())),
        (false, _) if !may_make_roles => return Err(ReaderError::NoRight),
        (false, _) => {}
    }
    client.batch(&roles(login)).await?;
    Ok(true)
}

fn roles(login: &LoginName) -> String {
    sql!("schema/reader/roles.sql").replace(PLACEHOLDER, login.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_needs_no_quotes() {
        for good in ["anna", "_a", "price_team_2", &"a".repeat(MAX_NAME_CHARS)] {
            assert_eq!(good.parse::<LoginName>().unwrap().as_str(), good);
        }
        for bad in ["", "Anna", "2a", "a-b", "a\"b", "ä", "pg_a", "drover_reader", &"a".repeat(MAX_NAME_CHARS + 1)] {
            assert!(bad.parse::<LoginName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_statements_name_the_login_alone() {
        let statements = statements(&"anna".parse().unwrap());
        assert!(statements.contains("CREATE ROLE \"anna\" LOGIN") && !statements.contains(PLACEHOLDER));
    }
}
