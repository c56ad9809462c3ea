//! Checks the account's settings behind a pooler, where drover sets none by itself. In: the database. Out:
//! one finding, with the statements that set the account right; none without a pooler.

use super::{Finding, unread};
use db::schema::server_info::SessionSettings;
use db::{Db, schema};

pub async fn check(db: &Db, config: &settings::Database) -> Option<Finding> {
    if !db.server().is_pooled() {
        return None;
    }
    let read = async { schema::server_info::session(&db.client().await?).await };
    Some(match read.await {
        Ok(session) => finding(&session, config),
        Err(error) => unread("pooler", &error),
    })
}

fn finding(session: &SessionSettings, config: &settings::Database) -> Finding {
    let remedy = |wanted: &[(&'static str, String)]| {
        format!("run `{}`, then RECONNECT in the pooler", schema::server_info::alter_role(wanted))
    };
    match (session.necessary(config).as_slice(), session.advisable(config).as_slice()) {
        ([], []) => Finding::well("pooler", "the account has the settings that drover needs behind a pooler"),
        ([], wanted) => {
            Finding::advice("pooler", "the account's settings are not ideal behind a pooler", remedy(wanted))
        }
        (wanted, _) => Finding::fault("pooler", "drover cannot work with the account's settings", remedy(wanted)),
    }
}
