//! Groups of stores: their names, their stores, and their schedules. A group exists while a store is in it or
//! a schedule is for it.
//!
//! In: the caller's transaction, and names that [`domain::store::group`] has read. Out: counts, or the reason why
//! nothing was changed.

use thiserror::Error;

use crate::statements::{FromRow, first_column, read_all, rows, sql};
use crate::{Client, DbError, stores};
use contract::groups::Group;
use domain::store::StoreId;
use domain::store::group::MAX_GROUPS;

/// Reason why a group was not changed.
#[derive(Debug, Error)]
pub enum GroupError {
    #[error("group {0} does not exist")]
    Missing(String),
    #[error("store {0} does not exist")]
    MissingStore(StoreId),
    #[error("store {0} is in {MAX_GROUPS} groups: take it out of one first")]
    Full(StoreId),
    #[error("group {0} exists already: put the stores into it, and delete the other one")]
    Taken(String),
    #[error("group {name} has the schedules {}: give them another group, or remove them first", schedules.join(", "))]
    Scheduled { name: String, schedules: Vec<String> },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Lists at most `limit` groups by name, after `after`.
pub async fn list(client: &Client, after: Option<&str>, limit: i64) -> Result<Vec<Group>, DbError> {
    read_all(&client.query(sql!("stores/groups/list.sql"), &[&after, &limit]).await?)
}

pub async fn get(client: &Client, name: &str) -> Result<Option<Group>, DbError> {
    let group = Group::from_row(&client.query_one(sql!("stores/groups/get.sql"), &[&name]).await?)?;
    Ok(Some(group).filter(|group| group.stores > 0 || !group.schedules.is_empty()))
}

/// Puts stores into a group, each once; returns the number of new members.
pub async fn put_in(client: &Client, name: &str, ids: &[StoreId]) -> Result<u64, GroupError> {
    require_stores(client, ids).await?;
    let sql = sql!("stores/groups/first_full.sql");
    match client.query_opt(sql, &[&name, &ids, &(MAX_GROUPS as i32)]).await? {
        Some(row) => Err(GroupError::Full(first_column(&row)?)),
        None => Ok(client.execute(sql!("stores/groups/put_in.sql"), &[&name, &ids]).await?),
    }
}

/// Takes stores out of a group; returns the number of former members.
pub async fn take_out(client: &Client, name: &str, ids: &[StoreId]) -> Result<u64, GroupError> {
    require_stores(client, ids).await?;
    Ok(client.execute(sql!("stores/groups/take_out.sql"), &[&name, &Some(ids)]).await?)
}

/// Gives a group another name, which no other group has; its schedules move with it.
pub async fn rename(client: &Client, name: &str, new_name: &str) -> Result<(), GroupError> {
    require(client, name).await?;
    if name != new_name && get(client, new_name).await?.is_some() {
        return Err(GroupError::Taken(new_name.to_owned()));
    }
    client.execute(sql!("stores/groups/rename.sql"), &[&name, &new_name]).await?;
    Ok(())
}

/// Takes all stores out of a group that no schedule is for; returns their number.
pub async fn delete(client: &Client, name: &str) -> Result<u64, GroupError> {
    let Group { schedules, .. } = require(client, name).await?;
    if !schedules.is_empty() {
        return Err(GroupError::Scheduled { name: name.to_owned(), schedules });
    }
    Ok(client.execute(sql!("stores/groups/take_out.sql"), &[&name, &None::<&[StoreId]>]).await?)
}

async fn require(client: &Client, name: &str) -> Result<Group, GroupError> {
    get(client, name).await?.ok_or_else(|| GroupError::Missing(name.to_owned()))
}

async fn require_stores(client: &Client, ids: &[StoreId]) -> Result<(), GroupError> {
    match stores::first_missing(client, ids).await? {
        Some(id) => Err(GroupError::MissingStore(id)),
        None => Ok(()),
    }
}

rows! {
    Group { name, stores, schedules }
}
