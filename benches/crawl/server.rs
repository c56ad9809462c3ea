//! `Server`: a private Postgres with its ordinary settings, a database for each peer, and its cost.

use anyhow::Result;
use benches::{BenchServer, connect, postmaster, processes};
use tokio_postgres::Client;

pub struct Server {
    running: BenchServer,
    admin: Client,
    postmaster: u32,
}

impl Server {
    /// `settings`: beside the ordinary ones.
    pub async fn start(settings: Vec<String>) -> Result<Server> {
        let running = BenchServer::start(env!("CARGO_BIN_EXE_drover-under-bench"), settings).await?;
        let admin = connect(running.url()).await?;
        let postmaster = postmaster(&admin).await?;
        Ok(Server { running, admin, postmaster })
    }

    /// The URL of another database.
    pub fn url(&self, database: &str) -> String {
        self.running.url().replacen("/drover?", &format!("/{database}?"), 1)
    }

    pub async fn drop_database(&self, database: &str) -> Result<()> {
        Ok(self.admin.batch_execute(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)")).await?)
    }

    pub async fn create(&self, database: &str) -> Result<()> {
        Ok(self.admin.batch_execute(&format!("CREATE DATABASE {database}")).await?)
    }

    /// Creates `database` again as a copy of `template`. The checkpoint is done now, so that the crawl does
    /// not pay for it.
    pub async fn reset(&self, database: &str, template: &str) -> Result<()> {
        self.drop_database(database).await?;
        self.admin.batch_execute(&format!("CREATE DATABASE {database} TEMPLATE {template}")).await?;
        Ok(self.admin.batch_execute("CHECKPOINT").await?)
    }

    /// Connection for statements about the whole server.
    pub fn admin(&self) -> &Client {
        &self.admin
    }

    pub async fn wal_bytes(&self) -> Result<i64> {
        let sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";
        Ok(self.admin.query_one(sql, &[]).await?.try_get(0)?)
    }

    pub fn cpu(&self) -> Result<f64> {
        processes::family_cpu(self.postmaster)
    }

    pub async fn stop(self) -> Result<()> {
        drop(self.admin);
        self.running.stop().await
    }
}
