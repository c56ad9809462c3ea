//! `Replicated`: a primary and its synchronous standby on loopback, with a failover as an operator makes it.
//!
//! The directory of a killed primary is deleted, and a new standby is copied from the promoted one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::database::connect;
use super::farm::PATIENCE;
use super::port::free_port;
use super::server_dir;
use super::wait::until;

/// The server shares the disk with its standby and with all other tests, so nothing waits for that.
const SETTINGS: &str = "listen_addresses = '127.0.0.1'\nfsync = off\nmax_connections = 100\nshared_buffers = '64MB'\n\
                        wal_receiver_status_interval = '1s'\nwal_keep_size = '64MB'\nlog_min_messages = fatal\n";

pub struct Replicated {
    primary: Node,
    standby: Node,
    _dir: tempfile::TempDir,
}

/// A server; killed with all its processes when dropped.
struct Node {
    process: Child,
    data: PathBuf,
    port: u16,
}

impl Replicated {
    pub async fn start() -> Replicated {
        let dir = server_dir();
        private_server::give(dir.path()).unwrap();
        let (first, second) = (dir.path().join("a"), dir.path().join("b"));
        run(program("initdb", &first).arg("-D").arg(&first).args(["-U", "drover", "-A", "trust", "-N", "-E", "UTF8"]));
        append(&first.join("postgresql.conf"), SETTINGS);
        let primary = Node::start(first, free_port()).await;
        connect(&primary.url("postgres")).await.batch_execute("CREATE DATABASE drover").await.unwrap();
        let standby = primary.copy(second, free_port()).await;
        primary.commit_on_standby().await;
        Replicated { primary, standby, _dir: dir }
    }

    /// Names both servers, and asks for the one that takes writes.
    pub fn url(&self) -> String {
        let (one, other) = (self.primary.port.min(self.standby.port), self.primary.port.max(self.standby.port));
        format!("postgresql://drover@127.0.0.1:{one},127.0.0.1:{other}/drover?target_session_attrs=read-write")
    }

    /// Kills the primary without a warning.
    pub fn kill_primary(&mut self) {
        self.primary.kill();
    }

    /// Makes the standby the primary; returns when it takes writes.
    pub async fn promote(&mut self) -> Instant {
        run(program("pg_ctl", &self.standby.data)
            .arg("-D")
            .arg(&self.standby.data)
            .args(["promote", "-w", "-t", "60"]));
        let promoted = Instant::now();
        std::mem::swap(&mut self.primary, &mut self.standby);
        promoted
    }

    /// Copies a standby from the primary into the place of the killed server, under its port.
    pub async fn replace_standby(&mut self) {
        let (data, port) = (self.standby.data.clone(), self.standby.port);
        std::fs::remove_dir_all(&data).unwrap();
        self.standby = self.primary.copy(data, port).await;
        self.primary.commit_on_standby().await;
    }
}

impl Node {
    async fn start(data: PathBuf, port: u16) -> Node {
        let mut command = program("postgres", &data);
        command.arg("-D").arg(&data).arg("-p").arg(port.to_string()).arg("-k").arg(data.parent().unwrap());
        let process = command.spawn().unwrap();
        let node = Node { process, data, port };
        until("the server answers", PATIENCE, async || {
            tokio_postgres::connect(&node.url("postgres"), tokio_postgres::NoTls).await.is_ok()
        })
        .await;
        node
    }

    fn url(&self, database: &str) -> String {
        format!("postgresql://drover@127.0.0.1:{}/{database}", self.port)
    }

    /// Starts a standby of this server.
    async fn copy(&self, data: PathBuf, port: u16) -> Node {
        let mut copy = program("pg_basebackup", &self.data);
        copy.arg("-D").arg(&data).args(["-R", "-c", "fast", "-N", "-X", "stream", "-d"]).arg(self.url("postgres"));
        run(&mut copy);
        // the copy waits for no standby of its own once it is promoted
        append(&data.join("postgresql.auto.conf"), "synchronous_standby_names = ''\n");
        Node::start(data, port).await
    }

    /// Makes commits wait until they are on two servers: otherwise they have no answer.
    async fn commit_on_standby(&self) {
        let client = connect(&self.url("postgres")).await;
        client.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'").await.unwrap();
        client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        let in_step = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'";
        until("the standby is synchronous", PATIENCE, async || !client.query(in_step, &[]).await.unwrap().is_empty())
            .await;
    }

    /// Stopped first, so that it starts nothing while its children are killed.
    fn kill(&mut self) {
        if self.process.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        let server = Pid::from_raw(self.process.id() as i32);
        let _ = kill(server, Signal::SIGSTOP);
        for child in children(server) {
            let _ = kill(child, Signal::SIGKILL);
        }
        let _ = kill(server, Signal::SIGKILL);
        let _ = self.process.wait();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

fn children(parent: Pid) -> Vec<Pid> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_ascii_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap())).collect()
}

/// One of the programs of the server in `data`.
fn program(name: &str, data: &Path) -> Command {
    let bin = std::env::var_os("DROVER_PG_BIN").map(PathBuf::from);
    let mut command = private_server::program(name, data, bin.as_deref()).unwrap();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(command: &mut Command) {
    let ran = command.stderr(Stdio::piped()).output().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn append(path: &Path, text: &str) {
    use std::io::Write;
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}
