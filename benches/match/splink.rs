//! Splink on the same listings, in a process of its own.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use benches::python;
use serde::Deserialize;
use tokio::process::Command;

use super::market::Told;

/// Figures of a run, with the threshold of the best F1.
#[derive(Debug, Deserialize)]
pub struct Run {
    pub threshold: f64,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
    pub seconds: f64,
    /// Seconds of CPU.
    pub cpu: f64,
    /// Bytes.
    pub rss: u64,
}

pub async fn run(listings: &[Told]) -> Result<Run> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/match"));
    let environment = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/splink"));
    let python = python::interpreter(environment, &folder.join("requirements.txt")).await?;
    let file = tempfile::Builder::new().suffix(".csv").tempfile()?;
    write(listings, file.path())?;
    let output = Command::new(python).arg(folder.join("splink_peer.py")).arg(file.path()).output().await?;
    ensure!(output.status.success(), "Splink: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().last().context("Splink printed nothing")?;
    Ok(serde_json::from_str(line)?)
}

fn write(listings: &[Told], file: &Path) -> Result<()> {
    let mut csv = csv::Writer::from_path(file)?;
    csv.write_record([
        "id",
        "name",
        "brand",
        "category",
        "subcategory",
        "strain",
        "options",
        "chain_id",
        "product",
        "decidable",
    ])?;
    for told in listings {
        let listing = &told.listing;
        let mut options = listing.options.clone();
        options.sort_unstable();
        let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
        csv.write_record([
            listing.id.to_string(),
            listing.name.clone(),
            or_empty(&listing.brand),
            or_empty(&listing.category),
            or_empty(&listing.subcategory),
            or_empty(&listing.strain_type),
            options.join(" ").to_lowercase(),
            or_empty(&listing.enterprise_product_id),
            told.product.to_string(),
            told.is_decidable.to_string(),
        ])?;
    }
    csv.flush()?;
    Ok(())
}
