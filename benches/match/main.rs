//! The match of listings on the simulated market, whose truth is known: how many pairs are right, how many are found, time and memory.
//!
//! `cargo bench --package benches --bench match [-- --seed 90125 --stores 200 --listings 500 --products 8000 --makers 96]`
//!
//! With `--splink`, Splink matches the same listings in a process of its own. Seed 1 and its neighbours are for tuning the rules; figures that are shown come from seeds that no rule was made for. With
//! `--wrong N`, wrong and missed pairs are printed.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "../../tests/testkit/market.rs"]
mod market;
mod splink;
mod wrong;

use std::time::Instant;

use benches::processes;
use clap::Parser;
use sim::market::{Market, Settings};

use market::{Figures, matched, told};

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 90_125)]
    seed: u64,
    #[arg(long, default_value_t = 200)]
    stores: usize,
    #[arg(long, default_value_t = 500)]
    listings: usize,
    #[arg(long, default_value_t = 8_000)]
    products: usize,
    #[arg(long, default_value_t = 96)]
    makers: usize,
    /// Match the same listings with Splink
    #[arg(long)]
    splink: bool,
    /// Maximum number of wrong and of missed pairs to print
    #[arg(long, default_value_t = 0)]
    wrong: usize,
    /// Argument that cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let settings = Settings {
        seed: args.seed,
        stores: args.stores,
        listings_per_store: args.listings,
        products: args.products,
        makers: args.makers,
    };
    let market = Market::new(settings);
    let listings = told(&market);
    let pid = std::process::id();
    let (begun, cpu, memory) = (Instant::now(), processes::cpu(pid).unwrap(), processes::peak_rss(pid).unwrap());
    let (brand_of, matches) = matched(&listings);
    let (time, cpu) = (begun.elapsed(), processes::cpu(pid).unwrap() - cpu);
    println!("{} listings of {} products, seed {}", listings.len(), market.products(), args.seed);
    let memory = (processes::peak_rss(pid).unwrap() - memory) >> 20;
    println!("{time:.1?}, {cpu:.1} s CPU, {memory} MiB beside the listings");
    println!("{} products found, {} profiles with too many candidates", matches.products.len(), matches.cut);
    let product_of: Vec<usize> = matches.decided().map(|(_, _, found)| found.product).collect();
    println!("products {}", Figures::of(&listings, &product_of, |told| told.product));
    println!("brands   {}", Figures::of(&listings, &brand_of, |told| told.maker));
    if args.splink {
        let run = splink::run(&listings).await.unwrap();
        println!(
            "Splink   precision {:.4}, recall {:.4}, F1 {:.4} at {}; {:.1} s, {:.1} s CPU, {} MiB",
            run.precision,
            run.recall,
            run.f1,
            run.threshold,
            run.seconds,
            run.cpu,
            run.rss >> 20
        );
    }
    if args.wrong > 0 {
        wrong::print(&listings, &matches, args.wrong);
        wrong::print_brands(&listings, &brand_of);
    }
}
