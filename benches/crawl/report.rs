//! The report: a line for each run and peer, or the single figures as JSON.

use anyhow::Result;
use benches::median;

use crate::Run;
use crate::peer::Peer;
use crate::rounds::Figure;

const RUNS: [Run; 7] = [Run::First, Run::Unchanged, Run::Changed, Run::Latency, Run::Small, Run::Scale, Run::Refused];
const PEERS: [Peer; 4] = [Peer::Drover, Peer::Bare, Peer::Asyncio, Peer::Scrapy];

pub fn print(figures: &[Figure], as_json: bool) -> Result<()> {
    if as_json {
        for figure in figures {
            println!("{}", serde_json::to_string(figure)?);
        }
        return Ok(());
    }
    println!(
        "{:<10} {:<8} {:>6} {:>8} {:>10} {:>17} {:>7} {:>8} {:>6} {:>9} {:>9} {:>6} {:>6} {:>7}",
        "run",
        "peer",
        "rounds",
        "products",
        "products/s",
        "range",
        "x bare",
        "x first",
        "CPU",
        "Postgres",
        "WAL/prod",
        "RSS",
        "stand",
        "other"
    );
    for run in RUNS {
        for peer in PEERS {
            let own: Vec<&Figure> = figures.iter().filter(|figure| (figure.run, figure.peer) == (run, peer)).collect();
            if !own.is_empty() {
                println!("{}", line(&own, figures));
            }
        }
    }
    Ok(())
}

/// The figures of one run and peer, in one line.
fn line(own: &[&Figure], all: &[Figure]) -> String {
    let median = |of: fn(&Figure) -> f64| median(own.iter().map(|figure| of(figure)));
    let speeds = || own.iter().map(|figure| speed(figure));
    let range = format!("{:.0}-{:.0}", speeds().fold(f64::INFINITY, f64::min), speeds().fold(0.0, f64::max));
    let first = own[0];
    let to_bare = ratio(own, all, |figure| (figure.run, Peer::Bare));
    let to_first = ratio(own, all, |_| (Run::First, Peer::Drover));
    format!(
        "{:<10} {:<8} {:>6} {:>8} {:>10.0} {:>17} {:>7} {:>8} {:>4.1} s {:>7.1} s {:>7.0} B {:>3.0} MB {:>4.1} % {:>5.2} s",
        format!("{:?}", first.run).to_lowercase(),
        first.peer.name(),
        own.len(),
        first.products,
        median(speed),
        range,
        to_bare,
        to_first,
        median(|figure| per_100_000(figure, figure.cpu)),
        median(|figure| per_100_000(figure, figure.postgres_cpu)),
        median(|figure| figure.wal_bytes as f64 / figure.products as f64),
        median(|figure| figure.peak_rss as f64 / 1e6),
        median(|figure| 100.0 * figure.stand_cpu / (figure.cpu + figure.postgres_cpu + figure.stand_cpu)),
        median(|figure| figure.other_cpu),
    )
}

/// The median of the rounds' own ratios to another run and peer; a dash where there is none.
fn ratio(own: &[&Figure], all: &[Figure], other: impl Fn(&Figure) -> (Run, Peer)) -> String {
    let beside = |figure: &Figure| {
        let wanted = other(figure);
        all.iter().find(|other| (other.run, other.peer) == wanted && other.round == figure.round)
    };
    let ratios: Vec<f64> = own.iter().filter_map(|figure| Some(speed(figure) / speed(beside(figure)?))).collect();
    if ratios.is_empty() { "-".to_owned() } else { format!("{:.2}", median(ratios)) }
}

fn speed(figure: &Figure) -> f64 {
    figure.products as f64 / figure.seconds
}

fn per_100_000(figure: &Figure, seconds: f64) -> f64 {
    seconds * 100_000.0 / figure.products as f64
}
