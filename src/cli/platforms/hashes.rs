//! `drover platforms hashes`: lists the hashes of a platform's persisted queries, and adds one.
//!
//! A running worker uses an added hash from its next task on; untried hashes are tried before refused ones.

use clap::Subcommand;
use serde::Serialize;
use strum::VariantArray;

use crate::app::data::DataFiles;
use crate::cli::{CliError, Env, ExitCode, time};
use crate::platforms::PlatformRegistry;
use db::hosts;
use db::hosts::rotating_values::QueryHashRow;
use domain::query_hash::QueryHash;
use domain::store::Platform;

/// Number of hex digits of a SHA-256.
const HASH_DIGITS: usize = 64;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the known hashes with the endpoints that accepted or refused them
    List {
        /// Menu platform [default: all]
        #[arg(long)]
        platform: Option<Platform>,
    },
    /// Add the hash of a query, as the pages of the platform send it
    Add {
        /// Name of the query, such as FilteredProducts
        operation: String,
        /// SHA-256 of the query, 64 hex digits
        hash: String,
        /// Menu platform [default: the only one with persisted queries]
        #[arg(long)]
        platform: Option<Platform>,
    },
}

#[derive(Serialize)]
struct AddedHash {
    platform: Platform,
    operation: String,
    hash: String,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List { platform } => list(platform, env).await,
        Command::Add { operation, hash, platform } => {
            let registry = DataFiles::load(&env.config)?.platforms;
            let platform = platform.map_or_else(|| only_platform(&registry), Ok)?;
            add(AddedHash { platform, operation, hash }, &registry, env).await
        }
    }
}

async fn list(platform: Option<Platform>, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let rows = hosts::rotating_values::list(&client, platform).await?;
    let headers =
        ["platform", "operation", "hash", "endpoint", "added", "first accepted", "last accepted", "last refused"];
    env.out.listed("hashes", &rows, &headers, cells)?;
    env.out.note_of_none(&rows, "no hashes to show: add one with `drover platforms hashes add OPERATION HASH`");
    Ok(ExitCode::Ok)
}

async fn add(mut added: AddedHash, registry: &PlatformRegistry, env: &Env) -> anyhow::Result<ExitCode> {
    require_operation(&added, registry)?;
    added.hash = checked(&added.hash)?;
    let hash = QueryHash { operation: added.operation.clone(), hash: added.hash.clone() };
    let client = env.db().await?.client().await?;
    if hosts::rotating_values::add(&client, added.platform, &[hash]).await? == 0 {
        let message = "this hash is known already; `drover platforms hashes list` shows the endpoints that refused it";
        return Err(CliError::conflict(message).into());
    }
    env.out.either(&added, |added| format!("hash of {} added: {}", added.operation, added.hash))?;
    Ok(ExitCode::Ok)
}

/// The platform that is meant where none is named.
fn only_platform(registry: &PlatformRegistry) -> Result<Platform, CliError> {
    let has_hashes = |platform: &&Platform| registry.get(**platform).adapter.persisted().is_some();
    let platforms: Vec<Platform> = Platform::VARIANTS.iter().filter(has_hashes).copied().collect();
    match platforms.as_slice() {
        [only] => Ok(*only),
        all => {
            let names: Vec<&str> = all.iter().map(|platform| platform.name()).collect();
            Err(CliError::usage(format!("name the platform with --platform: one of {}", names.join(", "))))
        }
    }
}

/// Refuses hashes of other operations, which would never be sent.
fn require_operation(added: &AddedHash, registry: &PlatformRegistry) -> anyhow::Result<()> {
    let adapter = &registry.get(added.platform).adapter;
    let known = adapter.persisted().map_or(&[][..], |persisted| persisted.operations());
    if known.contains(&added.operation.as_str()) {
        return Ok(());
    }
    if known.is_empty() {
        return Err(CliError::usage(format!("{} uses no query hashes", added.platform)).into());
    }
    let (operation, platform, known) = (&added.operation, added.platform, known.join(", "));
    Err(CliError::usage(format!("{platform} has no operation '{operation}': the operations are {known}")).into())
}

fn checked(hash: &str) -> Result<String, CliError> {
    let digits = hash.chars().count();
    if let Some(other) = hash.chars().find(|digit| !digit.is_ascii_hexdigit()) {
        return Err(CliError::usage(format!("the hash has a character that is not a hex digit: {other:?}")));
    }
    if digits != HASH_DIGITS {
        return Err(CliError::usage(format!("a hash has {HASH_DIGITS} hex digits; this one has {digits}")));
    }
    Ok(hash.to_ascii_lowercase())
}

fn cells(row: &QueryHashRow) -> Vec<String> {
    vec![
        row.platform.clone(),
        row.operation.clone(),
        row.hash.clone(),
        if row.host_pattern == "%" { "every".to_owned() } else { row.host_pattern.clone() },
        time(row.added_at),
        row.first_ok.map(time).unwrap_or_default(),
        row.last_ok.map(time).unwrap_or_default(),
        row.last_not_found.map(time).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::upper_case(&"AB".repeat(32), Ok("ab".repeat(32)))]
    #[case::short("abc", Err("a hash has 64 hex digits; this one has 3"))]
    #[case::long(&"a".repeat(65), Err("a hash has 64 hex digits; this one has 65"))]
    #[case::no_hex(&"g".repeat(64), Err("the hash has a character that is not a hex digit: 'g'"))]
    #[case::empty("", Err("a hash has 64 hex digits; this one has 0"))]
    fn a_hash_is_64_hex_digits(#[case] hash: &str, #[case] expected: Result<String, &str>) {
        assert_eq!(checked(hash).map_err(|error| error.message), expected.map_err(str::to_owned));
    }
}
