//! `drover proxies rekey`: encrypts every password of a proxy with the current key, in parts, while workers
//! run.

use serde::Serialize;

use crate::cli::{CliError, Env, ExitCode};
use db::access::credentials::RekeyedCredentials;
use db::proxies::passwords::{RekeyReport, UnreadableProxy, rekey};

const NO_KEY: &str = "secrets.key is not set: create one with `openssl rand -hex 32`, and give it to all processes as DROVER__SECRETS__KEY";

const REMEDY: &str =
    "add the key that is named to secrets.previous_keys and run this again, or import these proxies again";

#[derive(Debug, Serialize)]
struct Answer {
    dry_run: bool,
    key: String,
    /// Stored in plain text before.
    encrypted: usize,
    /// Encrypted with another key before.
    reencrypted: usize,
    /// Encrypted with the current key already.
    unchanged: usize,
    unreadable: Vec<Unreadable>,
    /// The credentials of media jobs, which are always encrypted.
    credentials: Credentials,
}

#[derive(Debug, Serialize)]
struct Credentials {
    reencrypted: usize,
    unchanged: usize,
    unreadable: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Unreadable {
    id: i64,
    address: String,
    why: String,
}

pub async fn run(dry_run: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let keys = env.config.secrets.keys();
    let key = keys.current_id().ok_or_else(|| CliError::usage(NO_KEY))?.to_owned();
    let db = if dry_run { env.db_to_read().await? } else { env.db().await? };
    let client = db.client().await?;
    let rekeyed = rekey(&client, &keys, dry_run).await?;
    let credentials = db::access::credentials::rekey(&client, &keys, dry_run).await?;
    let code = if rekeyed.unreadable.is_empty() && credentials.unreadable.is_empty() {
        ExitCode::Ok
    } else {
        ExitCode::PartialFailure
    };
    env.out.either(&Answer::new(rekeyed, credentials, key, dry_run), text)?;
    Ok(code)
}

impl Answer {
    fn new(rekeyed: RekeyReport, credentials: RekeyedCredentials, key: String, dry_run: bool) -> Self {
        let RekeyReport { encrypted, reencrypted, current, unreadable } = rekeyed;
        let unreadable = unreadable.into_iter().map(|UnreadableProxy { id, host, port, error }| Unreadable {
            id,
            address: format!("{host}:{port}"),
            why: error.to_string(),
        });
        let credentials = Credentials {
            reencrypted: credentials.reencrypted,
            unchanged: credentials.current,
            unreadable: credentials.unreadable.into_iter().map(|(name, error)| format!("{name}: {error}")).collect(),
        };
        let unreadable = unreadable.collect();
        Answer { dry_run, key, encrypted, reencrypted, unchanged: current, unreadable, credentials }
    }
}

fn text(answer: &Answer) -> String {
    let Answer { dry_run, key, encrypted, reencrypted, unchanged, unreadable, credentials } = answer;
    let would = if *dry_run { "would be " } else { "" };
    let line = |it: &Unreadable| format!("the password of proxy {} {} cannot be read: {}", it.id, it.address, it.why);
    let mut lines: Vec<String> = unreadable.iter().map(line).collect();
    if !unreadable.is_empty() {
        lines.push(REMEDY.to_owned());
    }
    lines.push(format!(
        "passwords {would}encrypted with key {key}: {encrypted}, {would}encrypted again: {reencrypted}, unchanged: {unchanged}, unreadable: {}",
        unreadable.len()
    ));
    lines.extend(credentials.unreadable.iter().map(|why| format!("the credential {why}")));
    lines.push(format!(
        "credentials of media jobs {would}encrypted again: {}, unchanged: {}, unreadable: {}",
        credentials.reencrypted,
        credentials.unchanged,
        credentials.unreadable.len()
    ));
    lines.join("\n")
}
