//! `drover audit`: lists changes by request or command, with their callers.

use chrono::{DateTime, Utc};

use super::{Env, ExitCode, time, values, with_query};
use contract::audit::{AuditPage, AuditRow};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only changes by this token; use `command line` for commands that ran directly on the database
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
    /// Only this action, such as tasks.cancel
    #[arg(long)]
    action: Option<String>,
    /// Only changes from this day (UTC) or time on
    #[arg(long, value_name = "TIME", value_parser = values::since)]
    since: Option<DateTime<Utc>>,
    /// Only changes up to the end of this day (UTC), or before this time
    #[arg(long, value_name = "TIME", value_parser = values::until)]
    until: Option<DateTime<Utc>>,
    /// Maximum number of changes
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let query = [
        ("who", args.who),
        ("action", args.action),
        ("from", args.since.map(|since| since.to_rfc3339())),
        ("to", args.until.map(|until| until.to_rfc3339())),
        ("limit", Some(args.limit.to_string())),
    ];
    let page: AuditPage = env.api_to_read().await?.get(&with_query("/api/audit", query)).await?;
    env.out.list(&page, &page.audit, &["at", "who", "from", "action", "target", "detail"], cells)?;
    env.out.note_of_none(&page.audit, "no changes to show: changes by commands and the API are listed here");
    env.out.note_of_more(page.next_cursor.is_some(), args.limit);
    Ok(ExitCode::Ok)
}

fn cells(row: &AuditRow) -> Vec<String> {
    let address = row.address.clone().unwrap_or_else(|| "-".to_owned());
    vec![time(row.at), row.who.clone(), address, row.action.clone(), row.target.clone(), row.detail.to_string()]
}
