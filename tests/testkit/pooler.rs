//! `Pooler`: a real PgBouncer in transaction mode before the server of a test's database, with fewer
//! connections than clients have, so that none keeps one.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tokio::process::Command;

use super::database::TestDatabase;
use super::farm::PATIENCE;
use super::port::free_port;
use super::process::Child;
use super::server_dir;
use super::wait::until;

/// Number of connections to the server for each of its databases.
pub const POOLER_CONNECTIONS: usize = 3;

/// Ends with the test.
pub struct Pooler {
    port: u16,
    name: String,
    _process: Child,
    _dir: tempfile::TempDir,
}

impl Pooler {
    pub async fn before(database: &TestDatabase) -> Pooler {
        let (dir, port) = (server_dir(), free_port());
        let (config, sockets) = (dir.path().join("pgbouncer.ini"), sockets(&database.url));
        std::fs::write(&config, settings(&sockets, port)).unwrap();
        let mut command = Command::new("pgbouncer");
        command.arg(&config).kill_on_drop(true);
        // it refuses to run as root, and the sockets are open to the server's account alone
        if nix::unistd::Uid::effective().is_root() {
            let owner = std::fs::metadata(&sockets).unwrap();
            command.uid(owner.uid()).gid(owner.gid());
        }
        let process = Child::spawn(&mut command);
        let pooler = Pooler { port, name: database.name.clone(), _process: process, _dir: dir };
        until("the pooler answers", PATIENCE, async || {
            tokio_postgres::connect(&pooler.url(), tokio_postgres::NoTls).await.is_ok()
        })
        .await;
        pooler
    }

    /// The test's database, through the pooler.
    pub fn url(&self) -> String {
        format!("postgresql://drover@127.0.0.1:{}/{}", self.port, self.name)
    }

    /// A command that reaches the database through the pooler.
    pub fn through<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("DATABASE_URL", self.url()).env("DROVER__DATABASE__POOLER", "true")
    }
}

fn settings(sockets: &str, port: u16) -> String {
    format!(
        "[databases]\n* = host={sockets} user=drover\n\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {POOLER_CONNECTIONS}\n\
         max_client_conn = 200\n"
    )
}

/// The directory of the server's sockets, from a URL of a test's database.
fn sockets(url: &str) -> String {
    let config: tokio_postgres::Config = url.parse().unwrap();
    match config.get_hosts() {
        [tokio_postgres::config::Host::Unix(path)] => Path::to_str(path).unwrap().to_owned(),
        other => panic!("not the server of the tests: {other:?}"),
    }
}
