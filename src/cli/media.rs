//! `drover media`: the records of media jobs, such as watched channels. One set of commands serves every kind.

mod items;

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::notifications::endpoint_id;
use super::{ApiClient, CliError, ClientError, Env, ExitCode, Input, each, values, with_query};
use contract::media::{RecordKind, RecordPage, is_text_field};

const SECRET: &str = "secret";
const SECRET_IN_ARGUMENTS: &str = "everyone on this machine can read a command's arguments: give the secret by --secret-file FILE, or - for standard input";

#[derive(Debug, clap::Args)]
#[command(after_help = kinds_and_fields())]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List items that jobs found, newest first, with their files
    Items(items::Args),
    /// List records of a kind
    List {
        #[command(flatten)]
        kind: Kind,
        /// Maximum number of records
        #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
        limit: i64,
    },
    /// Show a record
    Show {
        #[command(flatten)]
        kind: Kind,
        /// Record id, or the name of an endpoint, as shown by `media list`
        #[arg(allow_negative_numbers = true)]
        id: String,
    },
    /// Add a record. Example: media add channels channel_id=UC… download=true
    Add {
        #[command(flatten)]
        kind: Kind,
        #[command(flatten)]
        fields: Fields,
    },
    /// Change fields of a record. Example: media set channels 7 enabled=false
    Set {
        #[command(flatten)]
        kind: Kind,
        /// Record id, or the name of an endpoint, as shown by `media list`
        #[arg(allow_negative_numbers = true)]
        id: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// Remove records. Items are kept; the appearances of a person are removed
    Remove {
        #[command(flatten)]
        kind: Kind,
        /// Record ids, or names of endpoints, as shown by `media list`
        #[arg(required = true, value_name = "ID", allow_negative_numbers = true)]
        ids: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Kind {
    /// Kind of the records, such as channels
    #[arg(value_name = "KIND", value_parser = values::word::<RecordKind>)]
    kind: RecordKind,
}

#[derive(Debug, clap::Args)]
struct Fields {
    /// Fields and their values: JSON or plain text
    #[arg(required_unless_present = "secret_file", value_name = "FIELD=VALUE", value_parser = field)]
    fields: Vec<(String, Value)>,
    /// Read the secret of a credential from this file; - is standard input
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

/// `Kinds and their fields:` with a line for each.
fn kinds_and_fields() -> String {
    let line = |kind: &RecordKind| format!("  {kind:<12} {}", kind.fields().join(", "));
    let lines: Vec<String> = RecordKind::VARIANTS.iter().map(line).collect();
    format!("Kinds and their fields:\n{}\nThe secret of a credential comes from --secret-file.", lines.join("\n"))
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Items(args) => items::run(args, env).await,
        Command::List { kind: Kind { kind }, limit } => list(kind, limit, env).await,
        Command::Show { kind: Kind { kind }, id } => show(kind, &id, env).await,
        Command::Add { kind: Kind { kind }, fields } => {
            let added = env.api().await?.post(&path(kind), &fields.object().await?).await;
            answer(kind, added, env)
        }
        Command::Set { kind: Kind { kind }, id, fields } => {
            let api = env.api().await?;
            let id = record_id(kind, &id, &api).await?;
            let changed = api.put(&format!("{}/{id}", path(kind)), &fields.object().await?).await;
            answer(kind, changed, env)
        }
        Command::Remove { kind: Kind { kind }, ids } => remove(kind, &ids, env).await,
    }
}

async fn list(kind: RecordKind, limit: i64, env: &Env) -> anyhow::Result<ExitCode> {
    let path = with_query(&path(kind), [("limit", Some(limit))]);
    let page: RecordPage<Map<String, Value>> = env.api_to_read().await?.get(&path).await?;
    let headers: Vec<&str> =
        std::iter::once("id").chain(kind.fields().iter().copied()).chain(kind.result_field()).collect();
    env.out.list(&page, &page.records, &headers, |record| cells(record, &headers))?;
    let nothing = format!(
        "no {kind} to show: add one with `drover media add {kind} FIELD=VALUE…`, which lists the fields with --help"
    );
    env.out.note_of_none(&page.records, nothing);
    env.out.note_of_more(page.next_cursor.is_some(), limit);
    Ok(ExitCode::Ok)
}

async fn show(kind: RecordKind, id: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let id = record_id(kind, id, &api).await?;
    let record: Value = api.get(&format!("{}/{id}", path(kind))).await?;
    env.out.either(&record, |record| line(kind, record))?;
    Ok(ExitCode::Ok)
}

/// Endpoints alone have names.
async fn record_id(kind: RecordKind, text: &str, api: &ApiClient) -> anyhow::Result<i64> {
    if kind == RecordKind::Endpoints {
        return endpoint_id(api, text).await;
    }
    let fault = |fault| CliError::usage(format!("{text}: {fault} (`drover media list {kind}`)"));
    Ok(values::id(text).map_err(fault)?)
}

async fn remove(kind: RecordKind, names: &[String], env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let mut ids = Vec::new();
    for name in names {
        ids.push(record_id(kind, name, &api).await?);
    }
    let remove = async |api: &ApiClient, id| {
        api.delete(&format!("{}/{id}", path(kind))).await?;
        Ok(json!({ "removed": id }))
    };
    each(&ids, env, remove, |answer| format!("{} {} is removed", kind.noun(), answer["removed"])).await
}

fn answer(kind: RecordKind, answer: Result<Value, ClientError>, env: &Env) -> anyhow::Result<ExitCode> {
    env.out.either(&answer?, |record| line(kind, record))?;
    Ok(ExitCode::Ok)
}

fn path(kind: RecordKind) -> String {
    format!("/api/media/{kind}")
}

/// `channel 7: channel_id=UC…, download=true`.
fn line(kind: RecordKind, record: &Value) -> String {
    let fields = record.as_object().into_iter().flatten().filter(|(name, value)| *name != "id" && !value.is_null());
    let fields: Vec<String> = fields.map(|(name, value)| format!("{name}={}", cell(value))).collect();
    format!("{} {}: {}", kind.noun(), record["id"], fields.join(", "))
}

fn cells(record: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| cell(record.get(*name).unwrap_or(&Value::Null))).collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Fields {
    async fn object(self) -> anyhow::Result<Map<String, Value>> {
        let mut object = Map::new();
        for (name, value) in self.fields {
            if object.insert(name.clone(), value).is_some() {
                return Err(CliError::usage(format!("{name} is given twice")).into());
            }
        }
        if object.contains_key(SECRET) {
            return Err(CliError::usage(SECRET_IN_ARGUMENTS).into());
        }
        if let Some(file) = self.secret_file {
            let text = Input::read(&file).await?.text;
            object.insert(SECRET.to_owned(), text.trim_end_matches(['\r', '\n']).into());
        }
        Ok(object)
    }
}

/// `download=true` is true; a value that is not JSON is a text, and so is each of a field of texts: `external_id=123`.
fn field(text: &str) -> Result<(String, Value), String> {
    let (name, text) = text.split_once('=').ok_or("expected FIELD=VALUE, such as enabled=false")?;
    let value = serde_json::from_str(text).ok();
    let value = value.filter(|value: &Value| !is_text_field(name) || value.is_string() || value.is_null());
    Ok((name.to_owned(), value.unwrap_or_else(|| Value::String(text.to_owned()))))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_text("query=linux iso", json!("linux iso"))]
    #[case::a_word_of_json("enabled=false", json!(false))]
    #[case::a_number("tmdb_id=31", json!(31))]
    #[case::a_text_that_is_a_number("query=\"31\"", json!("31"))]
    #[case::a_list("extensions=[\"mkv\"]", json!(["mkv"]))]
    #[case::digits_for_a_text("external_id=123", json!("123"))]
    #[case::many_digits_for_a_text("username=12345678901234567890123", json!("12345678901234567890123"))]
    #[case::a_number_with_a_point_for_a_text("username=1.0", json!("1.0"))]
    #[case::a_word_of_json_for_a_text("name=true", json!("true"))]
    #[case::a_list_for_a_text("name=[a]", json!("[a]"))]
    #[case::no_value_for_a_text("account=null", json!(null))]
    #[case::a_list_of_json_for_a_text("name=[1]", json!("[1]"))]
    #[case::a_number_beside_texts("forum_id=1", json!(1))]
    #[case::an_equals_sign("url=https://a.example/?b=c", json!("https://a.example/?b=c"))]
    #[case::nothing("title=", json!(""))]
    fn a_field_has_a_value_of_json_or_a_text(#[case] text: &str, #[case] value: Value) {
        assert_eq!(field(text).unwrap().1, value);
    }

    #[test]
    fn a_field_without_a_value_is_refused() {
        assert!(field("enabled").is_err());
    }
}
