//! A whole crawl as a user sees it, beside other programs that do the same job, interleaved in one run; each
//! result is verified.
//!
//! `cargo bench --package benches --bench crawl -- [--runs first,unchanged,changed,latency,small,scale,refused]
//! [--stores 100] [--products 500] [--rounds 5] [--slots N] [--platform dutchie] [--peers] [--statements] [--heartbeats] [--changes] [--json]`
//!
//! The stand (`stand.rs`) is one process with the simulated upstream and eight forward proxies, which serves
//! pages that were rendered before. The peers write into databases of one private Postgres (`server.rs`),
//! created again for each round:
//!
//! | peer | what it is |
//! |---|---|
//! | drover | `drover worker` with its defaults, back-off and politeness off, and the bench's own `DROVER__` variables |
//! | bare | the reference, in `bare/`: hyper, libdeflate, sonic-rs, binary COPY; no queue, no health, options as arrays |
//! | asyncio, scrapy | with `--peers`: `peers/`, in Python as their best users write it; makes a virtual environment in `target` |
//!
//! A peer is started and idle before its crawl begins. Time runs from the order (for drover: from the
//! transaction that makes the tasks) until the last commit; for drover, until another connection sees no open
//! task.
//!
//! | run | what |
//! |---|---|
//! | first | into empty tables |
//! | unchanged | the same menus again |
//! | changed | after that, with other prices of 10 % of the products |
//! | latency | first, with 50 ms added to each answer |
//! | small | first, 1,000 stores of 50 products |
//! | scale | first, ten times the stores |
//! | refused | first, with images, whose host every proxy refuses: for drover alone |
//!
//! How to read the table: products/s is the median of the rounds, with the range. `x bare` and `x first` are
//! medians of the rounds' own ratios (to bare in the same run, to drover's first crawl of the same round),
//! since a round and its neighbours share the machine's other load; compare ratios, not figures of two runs.
//! CPU is seconds per 100,000 products; `stand` is its share of all CPU, and should be at most 2 %; `other`
//! is the machine's remaining CPU, and should be near 0.
//!
//! A crawl is right when its products, options and snapshots are as many as the upstream has and sum up to
//! the same prices, quantities, potencies and lengths of text, store by store, and no request came past the
//! proxies. A wrong one ends the bench. Linux only: it reads /proc.

#![allow(clippy::print_stdout)]

mod bare;
mod child;
mod drover;
mod followed;
mod heartbeats;
mod peer;
mod platform;
mod report;
mod rounds;
mod server;
mod stand;
mod statements;
mod sums;

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand, ValueEnum};
use domain::store::Platform;

use peer::Peer;
use server::Server;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    process: Option<Process>,
    /// Subjects to measure, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "first,unchanged")]
    runs: Vec<Run>,
    #[arg(long, default_value_t = 100)]
    stores: usize,
    /// Approximate number of products on one menu
    #[arg(long, default_value_t = 500)]
    products: usize,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Slots of each drover worker [default: that of the configuration]
    #[arg(long)]
    slots: Option<u16>,
    /// Platform of the stores, such as jane; only dutchie has other peers than drover
    #[arg(long, default_value_t = Platform::Dutchie)]
    platform: Platform,
    /// Measure the peers in Python too
    #[arg(long)]
    peers: bool,
    /// Show after each of drover's crawls which statements took Postgres' time; that costs time itself
    #[arg(long)]
    statements: bool,
    /// Renew drover's leases every 50 ms, and show after each of its crawls how late that was
    #[arg(long)]
    heartbeats: bool,
    /// Follow drover's changes by a reader and a webhook, and show after each of its crawls how late they were
    #[arg(long)]
    changes: bool,
    /// One object a line instead of a table
    #[arg(long)]
    json: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// The bench runs itself again as these.
#[derive(Clone, Copy, Subcommand)]
enum Process {
    #[command(hide = true)]
    Stand,
    #[command(hide = true)]
    Bare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Run {
    First,
    Unchanged,
    Changed,
    Latency,
    Small,
    Scale,
    Refused,
}

fn main() -> Result<()> {
    let args = Args::parse();
    match args.process {
        Some(Process::Stand) => stand::main(),
        Some(Process::Bare) => bare::main(),
        None => tokio::runtime::Runtime::new()?.block_on(bench(&args)),
    }
}

async fn bench(args: &Args) -> Result<()> {
    let mut peers = vec![Peer::Drover];
    if args.platform == Platform::Dutchie {
        peers.push(Peer::Bare);
    }
    if args.peers {
        ensure!(args.platform == Platform::Dutchie, "--peers: they crawl dutchie alone");
        peer::install().await?;
        peers.extend([Peer::Asyncio, Peer::Scrapy]);
    }
    let of_statements = statements::SETTINGS.into_iter().filter(|_| args.statements);
    let of_changes = followed::SETTINGS.into_iter().filter(|_| args.changes);
    let settings = of_statements.chain(of_changes).map(str::to_owned).collect();
    let server = Server::start(settings).await?;
    let measured = rounds::run(args, &peers, &server).await;
    server.stop().await?;
    report::print(&measured?, args.json)
}
