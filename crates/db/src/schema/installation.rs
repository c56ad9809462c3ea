//! Identifies this database among all others, so that files outside it can name the database they belong to.

use chrono::{DateTime, Utc};

use crate::statements::{first_column, sql};
use crate::{Client, DbError};

/// `INSTALLATION DATABASE [SERVER]`, separated by spaces: the id that travels with a dump, the database's
/// oid, and the server's identifier where the user may read it. A dump or copy into another database gives
/// another text; a physical copy of the whole server gives the same.
pub async fn storage_owner(client: &Client) -> Result<String, DbError> {
    let row = client.query_one(sql!("schema/installation/database.sql"), &[]).await?;
    let database: String = row.try_get("database")?;
    if !row.try_get::<_, bool>("may_read_server")? {
        return Ok(database);
    }
    let server: String = client.query_one(sql!("schema/installation/server.sql"), &[]).await?.try_get(0)?;
    Ok(format!("{database} {server}"))
}

/// End of a demo's simulated history; None if there is none.
pub async fn simulated_until(client: &Client) -> Result<Option<DateTime<Utc>>, DbError> {
    first_column(&client.query_one(sql!("schema/installation/simulated_until.sql"), &[]).await?)
}
