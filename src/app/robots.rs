//! `SharedRobots`: hosts' answers to robots.txt, shared through the table `robots`.
//!
//! In: a session's question or fetched file. Out: the rules that all processes share. The rules are
//! `domain::http::robots`. It must not know its callers.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::stealth::RobotsTable;
use db::{Client, Db, DbError};
use domain::http::robots::{RobotsAnswer, RobotsRecord};

pub struct SharedRobots {
    db: Db,
}

impl SharedRobots {
    pub fn new(db: &Db) -> Self {
        SharedRobots { db: db.clone() }
    }
}

impl RobotsTable for SharedRobots {
    fn read(&self, authority: &str) -> BoxFuture<'static, Result<RobotsRecord, String>> {
        let (db, authority) = (self.db.clone(), authority.to_owned());
        Box::pin(async move { db::hosts::robots::read(&client(&db).await?, &authority).await.map_err(text) })
    }

    fn take(&self, authority: &str, host: &str, limit: Duration) -> BoxFuture<'static, Result<bool, String>> {
        let (db, authority, host) = (self.db.clone(), authority.to_owned(), host.to_owned());
        Box::pin(
            async move { db::hosts::robots::take(&client(&db).await?, &authority, &host, limit).await.map_err(text) },
        )
    }

    fn store(&self, authority: &str, answer: RobotsAnswer) -> BoxFuture<'static, Result<(), String>> {
        let (db, authority) = (self.db.clone(), authority.to_owned());
        Box::pin(async move { db::hosts::robots::store(&client(&db).await?, &authority, &answer).await.map_err(text) })
    }

    fn report(&self, authority: &str, rule: &str, path: &str) -> BoxFuture<'static, Result<bool, String>> {
        let (db, authority) = (self.db.clone(), authority.to_owned());
        let (rule, path) = (rule.to_owned(), path.to_owned());
        Box::pin(
            async move { db::hosts::robots::report(&client(&db).await?, &authority, &rule, &path).await.map_err(text) },
        )
    }
}

async fn client(db: &Db) -> Result<Client, String> {
    db.client().await.map_err(text)
}

fn text(error: DbError) -> String {
    error.to_string()
}
