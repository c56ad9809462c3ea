//! `Server`: a private Postgres with its ordinary settings, a database for each peer, and its cost.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use anyhow::{Context, Result};
use private_server::{Options, PrivateServer};
use tokio_postgres::{Client, NoTls};

use crate::processes;

pub struct Server {
    running: PrivateServer,
    dir: tempfile::TempDir,
    admin: Client,
    postmaster: u32,
}

impl Server {
    /// `settings`: beside the ordinary ones.
    pub async fn start(settings: Vec<String>) -> Result<Server> {
        let dir = tempfile::Builder::new().prefix("drover-crawl-").tempdir()?;
        // the server may run under another account
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755))?;
        let keeper = Some(env!("CARGO_BIN_EXE_drover-under-bench").into());
        let options = Options { keeper, linger: Duration::ZERO, settings, ..Options::default() };
        let running = private_server::start_with(dir.path(), options).await?;
        let admin = connect(running.url()).await?;
        let backend: i32 = admin.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)?;
        let postmaster = processes::parent(backend.unsigned_abs())?;
        Ok(Server { running, dir, admin, postmaster })
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
        let Server { running, dir, admin, .. } = self;
        drop((admin, running));
        private_server::stop(dir.path()).await.context("the private server")?;
        Ok(())
    }
}

pub async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
