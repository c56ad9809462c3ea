//! `media_accounts`, as scrapes read and write them; people's changes are [`super::records`].

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::statements::{first_column, known_word, named, read_all, reason, rows, sql, storable};
use crate::{Client, DbError, Tx};
use domain::media::account::AccountKind;
use domain::media::item::{ItemEnd, ItemId, NewItem};
use domain::task::TaskId;

/// Maximum number of known files of one read.
const FILES_PER_READ: i64 = 10_000;

/// An account to scrape.
#[derive(Clone, Debug)]
pub struct ScrapedAccount {
    pub id: i64,
    pub platform: String,
    pub username: String,
    pub kind: AccountKind,
    /// None: made from the address of its platform.
    pub url: Option<String>,
    pub credential_id: Option<i64>,
    pub enabled: bool,
    /// The last scrape that left files was whole: what is older than known files is known.
    pub is_whole: bool,
}

/// A creator to sync.
#[derive(Clone, Debug)]
pub struct Creator {
    pub id: i64,
    pub platform: String,
    pub username: String,
    pub enabled: bool,
}

/// An item that was found and tried at once.
#[derive(Clone, Debug)]
pub struct ScrapedItem {
    pub item: NewItem,
    pub end: ItemEnd,
}

/// A downloaded file, by the name that its source has for it.
#[derive(Clone, Debug)]
pub struct KnownFile {
    pub id: ItemId,
    pub source: String,
    pub source_id: String,
    /// No account owns it.
    pub is_ownerless: bool,
}

pub async fn get(client: &Client, id: i64) -> Result<Option<ScrapedAccount>, DbError> {
    read_one(client, Some(id), None, None).await
}

/// The accounts among these, each a platform and a name, that have an address of their own.
pub async fn with_address(client: &Client, asked: &[(&str, &str)]) -> Result<HashSet<(String, String)>, DbError> {
    let (platforms, names): (Vec<&str>, Vec<&str>) = asked.iter().copied().unzip();
    let rows = client.query(sql!("media/accounts/with_address.sql"), &[&platforms, &names]).await?;
    rows.iter().map(|row| Ok((row.try_get("platform")?, row.try_get("username")?))).collect()
}

pub async fn find(client: &Client, platform: &str, username: &str) -> Result<Option<ScrapedAccount>, DbError> {
    read_one(client, None, Some(platform), Some(username)).await
}

async fn read_one(
    client: &Client,
    id: Option<i64>,
    platform: Option<&str>,
    username: Option<&str>,
) -> Result<Option<ScrapedAccount>, DbError> {
    let rows = client.query(sql!("media/accounts/find.sql"), &[&id, &platform, &username]).await?;
    Ok(read_all(&rows)?.pop())
}

/// The creators with these ids; None: all enabled ones. At most `limit`, beginning with the one that was tried longest ago.
pub async fn creators(client: &Client, ids: Option<&[i64]>, limit: i64) -> Result<Vec<Creator>, DbError> {
    read_all(&client.query(sql!("media/accounts/creators.sql"), &[&ids, &limit]).await?)
}

/// One page of the downloaded files that a scrape of an account skips: files that it owns, files that it shares, and files of
/// the given sources without an owner. The newest first, from before that id. Maximum number of files: 10,000.
pub async fn known_files(
    client: &Client,
    account: Option<i64>,
    sources: &[String],
    before: ItemId,
) -> Result<Vec<KnownFile>, DbError> {
    read_all(
        &named!(client.query("media/accounts/known_files.sql", account, sources, before, limit = FILES_PER_READ))
            .await?,
    )
}

/// The id of an account, which is added where it is missing.
pub async fn find_or_add(tx: &Tx, platform: &str, username: &str, kind: AccountKind) -> Result<i64, DbError> {
    let sql = sql!("media/accounts/find_or_add.sql");
    first_column(&tx.query_one(sql, &[&platform, &username, &kind.name()]).await?)
}

/// Writes items of an account, each with its end. None may be there twice.
pub async fn record(tx: &Tx, account: i64, items: &[ScrapedItem]) -> Result<(), DbError> {
    let items: Vec<Value> = items.iter().map(fields).collect();
    tx.execute(sql!("media/items/record.sql"), &[&storable(&json!(items)), &account]).await?;
    Ok(())
}

/// Writes that items were found at an account.
pub async fn own(tx: &Tx, account: i64, items: &[ItemId]) -> Result<(), DbError> {
    tx.execute(sql!("media/accounts/own_items.sql"), &[&account, &items]).await?;
    Ok(())
}

/// Writes that an account shows items that no account owned. Each is a source and an id there.
pub async fn adopt(tx: &Tx, account: i64, items: &[(String, String)]) -> Result<(), DbError> {
    let (sources, ids): (Vec<&str>, Vec<&str>) = items.iter().map(|(source, id)| (&source[..], &id[..])).unzip();
    tx.execute(sql!("media/accounts/adopt_items.sql"), &[&account, &sources, &ids]).await?;
    Ok(())
}

/// Writes how a scrape ended. `is_whole`: it went through all posts that it was meant to read.
pub async fn note_scrape(tx: &Tx, account: i64, is_whole: bool, error: Option<&str>) -> Result<(), DbError> {
    let sql = sql!("media/accounts/note_scrape.sql");
    tx.execute(sql, &[&account, &is_whole, &error.map(reason)]).await?;
    Ok(())
}

/// Number of files that the runs of a task have downloaded for an account; files recorded in `tx` count.
pub async fn files_of_task(tx: &Tx, account: i64, task: TaskId) -> Result<i64, DbError> {
    let sql = sql!("media/accounts/files_of_task.sql");
    first_column(&tx.query_one(sql, &[&account, &task]).await?)
}

fn fields(scraped: &ScrapedItem) -> Value {
    let mut fields = json!(scraped.item);
    fields["state"] = json!(scraped.end.state());
    fields["reason"] = json!(scraped.end.reason().map(reason));
    if let ItemEnd::Downloaded(file) = &scraped.end {
        fields["sha256"] = json!(file.sha256);
        fields["path"] = json!(file.path);
        fields["bytes"] = json!(file.bytes);
        fields["media_type"] = json!(file.media_type);
        fields["width"] = json!(file.width);
        fields["height"] = json!(file.height);
        fields["duration_ms"] = json!(file.duration_ms);
    }
    fields
}

rows! {
    ScrapedAccount { id, platform, username, kind: known_word, url, credential_id, enabled, is_whole }
    Creator { id, platform, username, enabled }
    KnownFile { id, source, source_id, is_ownerless }
}
