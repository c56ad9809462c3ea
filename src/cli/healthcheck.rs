//! `drover healthcheck`: asks the service of this machine, or at `--url`, whether it works; for containers and scripts.

use std::time::Duration;

use axum::body::Body;
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;

use super::http::{local_api_url, local_url};
use super::remote::Remote;
use super::{CliError, Env, ExitCode};
use contract::health::{CheckState, Readiness};
use settings::{Config, Secret, durations};

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ask only whether the process is up, not whether its database and proxies work
    #[arg(long)]
    live: bool,
    /// Maximum time for the answer
    #[arg(long, value_name = "DURATION", default_value = "4s", value_parser = durations::parse)]
    timeout: Duration,
}

/// Exit code 0: it works; 1: it does not, or does not answer.
pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let service = service(&env.config).await?;
    let path = if args.live { "/livez" } else { "/readyz" };
    let limit = args.timeout;
    let late = format!("{service}: no answer within {limit:?}");
    let asked = tokio::time::timeout(limit, ask(&service, path)).await;
    let (status, answer) = asked.map_err(|_| failure(late)).flatten()?;
    env.out.either(&answer, |answer| text(&service, status, answer))?;
    Ok(if status == StatusCode::OK { ExitCode::Ok } else { ExitCode::Failure })
}

/// The probes' address, else the API's.
async fn service(config: &Config) -> anyhow::Result<Remote> {
    let url = match (config.client.url.as_str(), config.probes.listen.as_str()) {
        ("", "") => local_api_url(&config.api).await?,
        ("", probes) => local_url(probes).await?,
        (url, _) => url.to_owned(),
    };
    Ok(Remote::new(&url, Secret::default())?)
}

async fn ask(service: &Remote, path: &str) -> Result<(StatusCode, Value), CliError> {
    let wrong = |fault: &str| failure(format!("{service}: {fault}"));
    let request = Request::get(path).header(HOST, service.authority()).body(Body::empty());
    let request = request.map_err(|error| wrong(&error.to_string()))?;
    let (head, body) = service.send(request).await.map_err(|fault| wrong(&fault))?.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await.map_err(|error| wrong(&error.to_string()))?;
    let answer = serde_json::from_slice(&body.to_bytes());
    let answer = answer.map_err(|_| wrong(&format!("the server there is not drover (status {})", head.status)))?;
    Ok((head.status, answer))
}

fn failure(message: String) -> CliError {
    CliError { code: ExitCode::Failure, message }
}

/// `http://127.0.0.1:9100: ready`; where something is wrong, a line for each part of it.
fn text(service: &Remote, status: StatusCode, answer: &Value) -> String {
    let Ok(Readiness { parts, .. }) = serde_json::from_value(answer.clone()) else {
        return format!("{service}: {}", if status == StatusCode::OK { "live" } else { "not live" });
    };
    let named = [
        ("database", parts.database),
        ("migrations", parts.migrations),
        ("proxies", parts.proxies),
        ("actors", parts.actors),
    ];
    let degraded = named.into_iter().filter(|(_, check)| check.state == CheckState::Degraded);
    let faults = degraded.map(|(name, check)| format!("\n  {name}: {}", check.detail.unwrap_or_default()));
    format!("{service}: {}{}", if status == StatusCode::OK { "ready" } else { "not ready" }, faults.collect::<String>())
}
