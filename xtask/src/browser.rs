//! `Browser`: a real Chromium without a window, by its driver. Ends with the value, whatever happened to it.
//!
//! In: addresses, scripts and a person's actions. Out: the page's content. It needs `chromedriver` and
//! Chromium on the machine.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use url::{ParseError, Url};

pub use fantoccini::key::Key;

use crate::look::Look;

/// Maximum time of a start, a click and a condition, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
/// Maximum time of a wait in a page, after which the driver is asked again.
const MAX_WAIT_IN_PAGE: Duration = Duration::from_secs(2);
const MAX_STARTS: usize = 3;
const REMEDY: &str = "install Chromium and its driver (Debian: apt-get install chromium chromium-driver)";

/// Maximum time of one script in a page.
const MAX_SCRIPT: Duration = Duration::from_secs(120);

pub struct Browser {
    client: Client,
    profile: tempfile::TempDir,
    _driver: Child,
}

impl Browser {
    /// Tries again: Chromium may end while it starts on a busy machine, and the driver, which takes one port on both
    /// kinds of loopback address, may find it taken on one of them.
    ///
    /// Its profile, hundreds of files, is a new directory below this one.
    pub async fn start(profiles: &Path) -> anyhow::Result<Browser> {
        for _ in 1..MAX_STARTS {
            if let Ok(browser) = Browser::start_once(profiles).await {
                return Ok(browser);
            }
        }
        Browser::start_once(profiles).await
    }

    async fn start_once(profiles: &Path) -> anyhow::Result<Browser> {
        let (driver, port) = start_driver().await?;
        let profile = tempfile::Builder::new().prefix("drover-chromium-").tempdir_in(profiles)?;
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities(profile.path().to_string_lossy().as_ref()))
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .with_context(|| format!("Chromium does not start: {REMEDY}"))?;
        Ok(Browser { client, profile, _driver: driver })
    }

    /// An empty page in place of all others, in a tab whose process is warm; nothing is left of the origin that was open,
    /// of the console, or of a [look](Self::look). Scripts for each new page stay: whoever adds one removes it.
    pub async fn forget(&self) -> anyhow::Result<()> {
        let origin = self.client.current_url().await?.origin().ascii_serialization();
        self.client.goto("about:blank").await?;
        self.devtools("Storage.clearDataForOrigin", json!({"origin": origin, "storageTypes": "all"})).await?;
        self.devtools("Network.clearBrowserCookies", json!({})).await?;
        self.devtools("Emulation.clearDeviceMetricsOverride", json!({})).await?;
        self.devtools("Emulation.setEmulatedMedia", json!({"media": "", "features": []})).await?;
        self.close_other_tabs().await?;
        self.log().await.map(|_| ())
    }

    async fn close_other_tabs(&self) -> anyhow::Result<()> {
        let kept = self.client.window().await?;
        for other in self.client.windows().await?.into_iter().filter(|tab| *tab != kept) {
            self.client.switch_to_window(other).await?;
            self.client.close_window().await?;
        }
        Ok(self.client.switch_to_window(kept).await?)
    }

    /// Opens a page of the dashboard, and waits until it shows its first data.
    pub async fn open(&self, url: &str) -> anyhow::Result<()> {
        self.client.goto(url).await?;
        self.ready().await
    }

    /// Waits until the page shows its first data.
    pub async fn ready(&self) -> anyhow::Result<()> {
        self.until("the page is ready", "document.documentElement.dataset.ready === '1'").await.map(|_| ())
    }

    pub async fn goto(&self, url: &str) -> anyhow::Result<()> {
        Ok(self.client.goto(url).await?)
    }

    /// Path and parameters of the page.
    pub async fn location(&self) -> anyhow::Result<String> {
        let url = self.client.current_url().await?;
        Ok(url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path())))
    }

    /// The value of an expression.
    pub async fn read(&self, expression: &str) -> anyhow::Result<Value> {
        Ok(self.client.execute(&format!("return {expression}"), Vec::new()).await?)
    }

    /// The value of an asynchronous function's body.
    pub async fn run(&self, body: &str, args: Vec<Value>) -> anyhow::Result<Value> {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             (async (...args) => {{ {body} }})(...arguments).then((value) => done([value ?? null]), (error) => done(String(error)));"
        );
        match self.client.execute_async(&script, args).await? {
            Value::Array(mut value) if value.len() == 1 => Ok(value.remove(0)),
            fault => bail!("a script failed: {fault}"),
        }
    }

    /// Waits until an expression is truthy, and returns it.
    pub async fn until(&self, what: &str, expression: &str) -> anyhow::Result<Value> {
        let begun = Instant::now();
        // asked in the page: each request to the driver costs more than many of these questions
        let wait = format!(
            "for (const begun = Date.now(); Date.now() - begun < {most}; await new Promise((then) => setTimeout(then, {poll}))) {{
                 try {{ const value = {expression}; if (value) return value; }} catch {{}}
             }}",
            most = MAX_WAIT_IN_PAGE.as_millis(),
            poll = POLL.as_millis(),
        );
        loop {
            match self.run(&wait, Vec::new()).await {
                Ok(value) if !value.is_null() => return Ok(value),
                _ if begun.elapsed() > PATIENCE => {
                    let last = self.read(expression).await;
                    bail!("not within {PATIENCE:?}: {what}; last: {last:?}; {}", self.state().await)
                }
                Ok(_) => {}
                // the page was left, or its scripts have not begun
                Err(_) => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// State of the page, for the message of a failed test.
    async fn state(&self) -> String {
        let text = self.read("document.body.innerText.slice(0, 2000)").await.unwrap_or_default();
        let focused = self.read("document.activeElement?.outerHTML.slice(0, 200)").await.unwrap_or_default();
        let log = self.log().await.unwrap_or_default();
        format!(
            "at {}, focus on {focused}, console {log:?}, page:\n{}",
            self.location().await.unwrap_or_default(),
            text.as_str().unwrap_or_default()
        )
    }

    /// Waits for the element that the XPath names, and clicks it.
    pub async fn click(&self, xpath: &str) -> anyhow::Result<()> {
        let begun = Instant::now();
        loop {
            let clicked = match self.client.find(Locator::XPath(xpath)).await {
                Ok(element) => element.click().await,
                Err(error) => Err(error),
            };
            match clicked {
                Ok(()) => return Ok(()),
                Err(error) if begun.elapsed() > PATIENCE => {
                    bail!("cannot click {xpath}: {error}; {}", self.state().await)
                }
                // it is not there yet, or was drawn again
                Err(_) => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Clicks the button with this text, once it is not busy any more; three dots at its end need not be given.
    pub async fn press_button(&self, text: &str) -> anyhow::Result<()> {
        let is_ready = "not(@disabled) and not(@aria-busy = 'true')";
        self.click(&format!("//button[starts-with(normalize-space(), '{text}') and {is_ready}]")).await
    }

    /// Replaces the text of a field.
    pub async fn fill(&self, css: &str, text: &str) -> anyhow::Result<()> {
        let found = self.until(&format!("there is {css}"), &format!("!!document.querySelector({})", json!(css))).await;
        found?;
        let element = self.client.find(Locator::Css(css)).await?;
        element.clear().await?;
        Ok(element.send_keys(text).await?)
    }

    /// Chooses an option of a select by its value.
    pub async fn choose(&self, css: &str, value: &str) -> anyhow::Result<()> {
        Ok(self.client.find(Locator::Css(css)).await?.select_by_value(value).await?)
    }

    /// Sends keys to the focused element.
    pub async fn keys(&self, keys: &str) -> anyhow::Result<()> {
        Ok(self.client.active_element().await?.send_keys(keys).await?)
    }

    pub async fn key(&self, key: Key) -> anyhow::Result<()> {
        self.keys(&char::from(key).to_string()).await
    }

    /// Looks at the page at this size and in this scheme, without motion.
    pub async fn look(&self, look: Look) -> anyhow::Result<()> {
        let size = json!({"width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", size).await?;
        let scheme = if look.is_dark { "dark" } else { "light" };
        let features = json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.devtools("Emulation.setEmulatedMedia", features).await.map(|_| ())
    }

    /// The whole page as WebP, however long it is.
    pub async fn screenshot(&self) -> anyhow::Result<Vec<u8>> {
        let shot = json!({"format": "webp", "quality": 70, "captureBeyondViewport": true});
        let answer = self.devtools("Page.captureScreenshot", shot).await?;
        Ok(BASE64_STANDARD.decode(answer["data"].as_str().context("no picture")?)?)
    }

    /// A command of the DevTools protocol.
    pub async fn devtools(&self, command: &str, parameters: Value) -> anyhow::Result<Value> {
        let body = json!({"cmd": command, "params": parameters});
        self.command("goog/cdp/execute", body).await
    }

    /// Errors and warnings of the console since the last call.
    pub async fn log(&self) -> anyhow::Result<Vec<String>> {
        let entries = self.command("se/log", json!({"type": "browser"})).await?;
        let entries = entries.as_array().context("no log")?.iter();
        let grave = entries.filter(|entry| matches!(entry["level"].as_str(), Some("SEVERE" | "WARNING")));
        Ok(grave.filter_map(|entry| entry["message"].as_str().map(str::to_owned)).collect())
    }

    async fn command(&self, path: &'static str, body: Value) -> anyhow::Result<Value> {
        Ok(self.client.issue_cmd(Extension { path, body }).await?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // the driver dies with the value, and leaves its browser behind
        let profile = self.profile.path().as_os_str();
        let _ = std::process::Command::new("pkill").args(["-KILL", "-f"]).arg(profile).status();
    }
}

/// A command of Chromium's driver beside the standard's.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

async fn start_driver() -> anyhow::Result<(Child, u16)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("chromedriver does not run: {REMEDY}"))?;
    let port = tokio::time::timeout(PATIENCE, port_of(&mut driver)).await.context("chromedriver is silent")??;
    Ok((driver, port))
}

/// The port that the driver chose.
async fn port_of(driver: &mut Child) -> anyhow::Result<u16> {
    let mut lines = BufReader::new(driver.stdout.take().context("no output")?).lines();
    while let Some(line) = lines.next_line().await? {
        let port = line.split("successfully on port ").nth(1).and_then(|rest| rest.trim_end_matches('.').parse().ok());
        if let Some(port) = port {
            // the rest is read too, so that the driver never waits for a reader
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok(port);
        }
    }
    bail!("chromedriver ended: {REMEDY}")
}

fn capabilities(profile: &str) -> Capabilities {
    // as root Chromium has no sandbox; it opens pages of this machine alone
    let args = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--window-size=1280,900",
    ];
    let mut args: Vec<String> = args.map(str::to_owned).into();
    args.push(format!("--user-data-dir={profile}"));
    let mut capabilities = Capabilities::new();
    capabilities.insert("goog:chromeOptions".to_owned(), json!({ "args": args }));
    // the check of a whole page takes long on a machine that builds beside it
    capabilities.insert("timeouts".to_owned(), json!({ "script": MAX_SCRIPT.as_millis() as u64 }));
    capabilities.insert("goog:loggingPrefs".to_owned(), json!({"browser": "ALL"}));
    capabilities
}
