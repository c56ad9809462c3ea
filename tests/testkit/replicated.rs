//! `Replicated`: a primary and its synchronous standby on loopback, with a failover as an operator makes it.
//!
//! The directory of a killed primary is deleted, and a new standby is copied from the promoted one.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid, User};

use super::database::connect;
use super::farm::PATIENCE;
use super::pooler::free_port;
use super::server_dir;
use super::wait::until;

/// Without an account of that name, the servers run as the tests do.
const ACCOUNT: &str = "postgres";
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
        give(dir.path());
        let (first, second) = (dir.path().join("a"), dir.path().join("b"));
        run(program("initdb").arg("-D").arg(&first).args(["-U", "drover", "-A", "trust", "-N", "-E", "UTF8"]));
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
        run(program("pg_ctl").arg("-D").arg(&self.standby.data).args(["promote", "-w", "-t", "60"]));
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
        let mut command = program("postgres");
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
        let mut copy = program("pg_basebackup");
        copy.arg("-D").arg(&data).args(["-R", "-c", "fast", "-N", "-X", "stream", "-d"]).arg(self.url("postgres"));
        run(&mut copy);
        // the copy waits for no standby of its own once it is promoted
        append(&data.join("postgresql.auto.conf"), "synchronous_standby_names = ''\n");
        Node::start(data, port).await
    }

    /// From now on a commit is on two servers, or has no answer.
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

/// One of the server's programs, under an account that it accepts.
fn program(name: &str) -> Command {
    let mut command = Command::new(bin().join(name));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/").env("LC_ALL", "C");
    if let Some(user) = account() {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command
}

fn run(command: &mut Command) {
    let ran = command.stderr(Stdio::piped()).output().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// PostgreSQL refuses to run as root.
fn account() -> Option<User> {
    match Uid::effective().is_root() {
        true => Some(User::from_name(ACCOUNT).unwrap().expect("the account postgres, to run servers as")),
        false => None,
    }
}

fn give(path: &Path) {
    if let Some(user) = account() {
        chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw())).unwrap();
    }
}

fn append(path: &Path, text: &str) {
    use std::io::Write;
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// Where the newest server's programs are.
fn bin() -> PathBuf {
    if let Some(bin) = std::env::var_os("DROVER_PG_BIN") {
        return bin.into();
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut bins: Vec<PathBuf> =
        versions.map(|path| path.join("bin")).filter(|bin| bin.join("initdb").exists()).collect();
    bins.sort();
    bins.pop().expect("PostgreSQL below /usr/lib/postgresql, or DROVER_PG_BIN")
}
