//! `Peer`: a crawling program. All but drover are programs that get a [`Job`] as a line of JSON, answer `"ready"`,
//! and then answer each line `"first"` or `"again"` with `"done"` after the last commit of a crawl.

use std::path::{Path, PathBuf};

use anyhow::Result;
use benches::{connect, python};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::child::Child;
use crate::drover::{self, Options, Worker};
use crate::server::Server;
use crate::stand::{PER_PAGE, Site};
use crate::sums::{self, SumsByStore};

const SCHEMA: &str = include_str!("peers/schema.sql");
const SUMS: &str = include_str!("peers/sums.sql");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crawl/peers");

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Peer {
    Drover,
    Bare,
    Asyncio,
    Scrapy,
}

/// Input of a program's crawl.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    pub database_url: String,
    pub base_url: String,
    pub query_hash: String,
    pub per_page: usize,
    /// Host and port.
    pub proxies: Vec<(String, u16)>,
    /// Platform dispensary ids; a store is known by its position.
    pub stores: Vec<String>,
    /// Directory of the raw answers, a file for each store and crawl.
    pub payloads: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Crawl into empty tables.
    First,
    Again,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Ready,
    Done,
}

/// A peer's process, and its database.
pub struct Crawler {
    process: Process,
    url: String,
    stores: Vec<String>,
}

enum Process {
    Drover(Worker),
    Program(Child),
}

impl Peer {
    pub fn name(self) -> &'static str {
        match self {
            Peer::Drover => "drover",
            Peer::Bare => "bare",
            Peer::Asyncio => "asyncio",
            Peer::Scrapy => "scrapy",
        }
    }

    pub fn database(self) -> String {
        format!("crawl_{}", self.name())
    }

    pub fn template(self) -> String {
        format!("{}_empty", self.database())
    }

    /// Makes the database that every round begins with.
    pub async fn prepare(self, server: &Server, site: &Site) -> Result<()> {
        server.drop_database(&self.template()).await?;
        server.create(&self.template()).await?;
        let url = server.url(&self.template());
        match self {
            Peer::Drover => drover::seed(&url, site).await,
            Peer::Bare | Peer::Asyncio | Peer::Scrapy => Ok(connect(&url).await?.batch_execute(SCHEMA).await?),
        }
    }

    /// Starts the peer's process, which then waits for its first order. `dir` is its own, and empty.
    pub async fn start(self, server: &Server, site: &Site, dir: &Path, options: Options) -> Result<Crawler> {
        let url = server.url(&self.database());
        let process = match self {
            Peer::Drover => Process::Drover(Worker::start(&url, site, dir, options).await?),
            Peer::Bare => Process::Program(program(&mut Child::of_this_program("bare")?, &url, site, dir).await?),
            Peer::Asyncio => Process::Program(program(&mut script("asyncio_copy.py"), &url, site, dir).await?),
            Peer::Scrapy => Process::Program(program(&mut script("scrapy_pipeline.py"), &url, site, dir).await?),
        };
        let stores = site.stores.iter().map(|store| store.platform_dispensary_id.clone()).collect();
        Ok(Crawler { process, url, stores })
    }
}

impl Crawler {
    pub fn pid(&self) -> u32 {
        match &self.process {
            Process::Drover(worker) => worker.pid(),
            Process::Program(child) => child.pid(),
        }
    }

    /// The n-th crawl of this database, from 0.
    pub async fn crawl(&mut self, nth: usize) -> Result<()> {
        match &mut self.process {
            Process::Drover(worker) => worker.crawl(nth).await,
            Process::Program(child) => {
                child.send(&if nth == 0 { Order::First } else { Order::Again }).await?;
                expect(child, Answer::Done).await
            }
        }
    }

    /// Content of the tables, and the number of snapshots.
    pub async fn rows(&self) -> Result<(SumsByStore, i64)> {
        if let Process::Drover(worker) = &self.process {
            return worker.rows().await;
        }
        let client = connect(&self.url).await?;
        let sum = |row: &tokio_postgres::Row| {
            let store: i32 = row.try_get("store")?;
            Ok((self.stores[store as usize].clone(), sums::of_row(row)?))
        };
        let stores = client.query(SUMS, &[]).await?.iter().map(sum).collect::<Result<_>>()?;
        Ok((stores, client.query_one("SELECT count(*) FROM snapshots", &[]).await?.try_get(0)?))
    }

    pub async fn stop(self) -> Result<()> {
        match self.process {
            Process::Drover(worker) => worker.stop().await,
            Process::Program(child) => child.finish().await,
        }
    }
}

async fn program(command: &mut Command, url: &str, site: &Site, dir: &Path) -> Result<Child> {
    let mut child = Child::spawn(command)?;
    let job = Job {
        database_url: url.to_owned(),
        base_url: site.base_url.clone(),
        query_hash: site.query_hash.clone(),
        per_page: PER_PAGE,
        proxies: site.proxies.clone(),
        stores: site.stores.iter().map(|store| store.platform_dispensary_id.clone()).collect(),
        payloads: dir.to_owned(),
    };
    child.send(&job).await?;
    expect(&mut child, Answer::Ready).await?;
    Ok(child)
}

async fn expect(child: &mut Child, wanted: Answer) -> Result<()> {
    let answer: Answer = child.receive().await?;
    anyhow::ensure!(answer == wanted, "it answered {answer:?}, not {wanted:?}");
    Ok(())
}

/// Command for a script, in the environment that `--peers` makes.
fn script(name: &str) -> Command {
    let mut command = Command::new(venv().join("bin/python"));
    command.arg(Path::new(SCRIPTS).join(name)).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn venv() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("crawl-peers")
}

/// Makes the environment of the peers in Python, unless it is there.
pub async fn install() -> Result<()> {
    python::interpreter(&venv(), &Path::new(SCRIPTS).join("requirements.txt")).await?;
    Ok(())
}
