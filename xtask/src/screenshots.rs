//! `cargo xtask screenshots`: every page of the dashboard, by day and by night, on a desk and on a phone.
//!
//! In: a running drover, or a demo of its own. Out: WebP files, named for the page and the look.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use xtask::browser::Browser;
use xtask::look::Look;
use xtask::pages::pages;

/// Pause after a page is ready: for later answers, such as those of charts.
const SETTLES: Duration = Duration::from_millis(1_500);

#[derive(clap::Args)]
pub struct Args {
    /// Address of a running drover [default: a demo of its own]
    #[arg(long)]
    url: Option<String>,
    /// Directory of the pictures
    #[arg(long, default_value = "docs/images")]
    out: PathBuf,
    /// Only pages with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// How long a demo of its own crawls first, in seconds: charts show minutes
    #[arg(long, default_value_t = 240)]
    crawl: u64,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.out)?;
    let (url, _demo) = match &args.url {
        Some(url) => (url.trim_end_matches('/').to_owned(), None),
        None => {
            let (url, demo) = start_demo().await?;
            eprintln!("The demo at {url} crawls for {} seconds first.", args.crawl);
            tokio::time::sleep(Duration::from_secs(args.crawl)).await;
            (url, Some(demo))
        }
    };
    let browser = Browser::start(&std::env::temp_dir()).await?;
    for page in pages()?.iter().filter(|page| page.name.contains(&args.only)) {
        let (name, path) = (&page.name, page.address(&first_id(&browser, &url, &page.list).await?));
        for look in Look::ALL {
            browser.look(look).await?;
            browser.open(&format!("{url}{path}")).await?;
            tokio::time::sleep(SETTLES).await;
            let file = args.out.join(format!("{name}-{}.webp", look.name()));
            write(&file, &browser.screenshot().await?)?;
            eprintln!("{}", file.display());
        }
    }
    Ok(())
}

fn write(file: &Path, picture: &[u8]) -> anyhow::Result<()> {
    std::fs::write(file, picture).with_context(|| format!("cannot write {}", file.display()))
}

/// Id of the first entry of a list; the browser asks, so that it is let in as its reader is.
async fn first_id(browser: &Browser, url: &str, list: &str) -> anyhow::Result<String> {
    if list.is_empty() {
        return Ok(String::new());
    }
    browser.goto(&format!("{url}/login")).await?;
    let answer = browser.run("return (await fetch(args[0])).json()", vec![format!("{url}{list}").into()]).await?;
    let lists = answer.as_object().into_iter().flat_map(|answer| answer.values()).filter_map(Value::as_array);
    let ids: Vec<i64> = lists.flatten().filter_map(|row| row["id"].as_i64()).collect();
    ids.first().map(ToString::to_string).with_context(|| format!("{list} holds nothing"))
}

/// A demo of this checkout, and its address.
async fn start_demo() -> anyhow::Result<(String, Child)> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut demo = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--package",
            "drover",
            "--no-default-features",
            "--features",
            "dashboard,demo",
            "--",
            "demo",
        ])
        .env("DROVER__API__LISTEN", "127.0.0.1:0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let mut lines = BufReader::new(demo.stdout.take().context("no output")?).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(url) = line.strip_prefix("Dashboard").map(str::trim).and_then(|url| url.strip_suffix("/admin")) {
            let url = url.to_owned();
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok((url, demo));
        }
    }
    bail!("the demo did not start, or was built without its dashboard: run ./dev demo to see why")
}
