//! The base of the benches: a server of their own, programs that serve HTTP or are written in Python, what
//! processes use, and the median of rounds.

pub mod http;
pub mod processes;
pub mod python;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use private_server::{Options, PrivateServer};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

/// A private Postgres for the time of one bench.
pub struct BenchServer {
    running: PrivateServer,
    dir: TempDir,
}

impl BenchServer {
    /// `keeper`: the program under bench. `settings`: beside the ordinary ones.
    pub async fn start(keeper: &str, settings: Vec<String>) -> Result<BenchServer> {
        let dir = tempfile::Builder::new().prefix("drover-bench-").tempdir()?;
        // the server may run under another account
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755))?;
        let options = Options { keeper: Some(keeper.into()), linger: Duration::ZERO, settings, ..Options::default() };
        let running = private_server::start_with(dir.path(), options).await?;
        Ok(BenchServer { running, dir })
    }

    pub fn url(&self) -> &str {
        self.running.url()
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Its clients are dropped before.
    pub async fn stop(self) -> Result<()> {
        let BenchServer { running, dir } = self;
        drop(running);
        private_server::stop(dir.path()).await.context("the private server")?;
        Ok(())
    }
}

pub async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Process id of the server behind a connection on this machine.
pub async fn postmaster(client: &Client) -> Result<u32> {
    let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)?;
    processes::parent(backend.unsigned_abs())
}

pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
