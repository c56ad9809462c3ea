//! `drover notifications`: notifications of ended jobs and their deliveries; endpoints and rules are `drover media`.

use std::time::{Duration, Instant};

use clap::Subcommand;
use serde_json::json;

use super::{ApiClient, CliError, Env, ExitCode, time, values, with_query};
use contract::age_sort::AgeSort;
use contract::media::RecordPage;
use contract::media::endpoints::Endpoint;
use contract::notifications::{NotificationPage, NotificationView};
use domain::notification::NotificationState;
use domain::vocabulary::Word;

/// Maximum time that a test waits for its end: a worker has to claim the sender, which waits 30 s for an answer by HTTP.
const MAX_WAIT: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(300);
/// Maximum number of endpoints among which a name is looked for.
const MAX_ENDPOINTS: i64 = 500;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List notifications, newest first
    List(List),
    /// Send notifications again, under the same ids
    Resend {
        /// Notification ids, as shown by `notifications list`
        #[arg(required = true, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
        ids: Vec<i64>,
    },
    /// Send a test to an endpoint, and show what its receiver answers; exit code 1 if it does not arrive
    Test {
        /// Name or id of the endpoint, as shown by `media list endpoints`
        #[arg(value_name = "ENDPOINT")]
        endpoint: String,
    },
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Only notifications of the endpoint with this name or id
    #[arg(long, value_name = "ENDPOINT", allow_negative_numbers = true)]
    endpoint: Option<String>,
    /// Only notifications in this state: pending, delivered or failed
    #[arg(long, value_parser = values::word::<NotificationState>)]
    state: Option<NotificationState>,
    /// Order: newest or oldest first
    #[arg(long, default_value_t, value_parser = values::word::<AgeSort>)]
    sort: AgeSort,
    /// Maximum number of notifications
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

const HEADERS: [&str; 9] =
    ["id", "endpoint", "event", "job", "state", "attempts", "status", "next attempt or end", "reason"];

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List(args) => list(args, env).await,
        Command::Resend { ids } => {
            let resend =
                async |api: &ApiClient, id| api.post(&format!("/api/notifications/{id}/resend"), &json!({})).await;
            super::each::each(&ids, env, resend, line).await
        }
        Command::Test { endpoint } => test(&endpoint, env).await,
    }
}

async fn list(args: List, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?.naming(&[]);
    let endpoint = match &args.endpoint {
        Some(endpoint) => Some(endpoint_id(&api, endpoint).await?),
        None => None,
    };
    let query = [
        ("endpoint", endpoint.map(|id| id.to_string())),
        ("state", args.state.map(|state| state.to_string())),
        ("sort", Some(args.sort.to_string())),
        ("limit", Some(args.limit.to_string())),
    ];
    let page: NotificationPage = api.get(&with_query("/api/notifications", query)).await?;
    env.out.list(&page, &page.notifications, &HEADERS, cells)?;
    env.out.note_of_none(&page.notifications, "no notifications to show: add a rule with `drover media add rules`");
    env.out.note_of_more(page.next_cursor.is_some(), args.limit);
    Ok(ExitCode::Ok)
}

async fn test(endpoint: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let id = endpoint_id(&api, endpoint).await?;
    let made: NotificationView = api.post(&format!("/api/media/endpoints/{id}/test"), &json!({})).await?;
    let ended = ended(&api, made).await?;
    env.out.either(&ended, line)?;
    match ended.state {
        Word::Known(NotificationState::Delivered) => Ok(ExitCode::Ok),
        Word::Known(NotificationState::Pending) => {
            env.out
                .note("no answer yet: is a worker running? Workers with the roles `any` or `media` send notifications, and a mail server may take ten minutes");
            Ok(ExitCode::Failure)
        }
        _ => Ok(ExitCode::Failure),
    }
}

/// The notification once it was tried, or as it is when the time is over.
async fn ended(api: &ApiClient, made: NotificationView) -> anyhow::Result<NotificationView> {
    let begun = Instant::now();
    let mut latest = made;
    while latest.state == Word::Known(NotificationState::Pending) && begun.elapsed() < MAX_WAIT {
        tokio::time::sleep(POLL).await;
        latest = api.get(&format!("/api/notifications/{}", latest.id)).await?;
    }
    Ok(latest)
}

/// The id of the endpoint with this name, unless it is an id itself.
pub async fn endpoint_id(api: &ApiClient, endpoint: &str) -> anyhow::Result<i64> {
    if let Ok(id) = endpoint.parse() {
        return Ok(id);
    }
    let found = endpoints(api).await?.into_iter().find(|record| record.name == endpoint).map(|record| record.id);
    let missing = || {
        CliError::usage(format!(
            "no endpoint has the name '{endpoint}'; `drover media list endpoints` shows all endpoints"
        ))
    };
    Ok(found.ok_or_else(missing)?)
}

pub async fn endpoints(api: &ApiClient) -> anyhow::Result<Vec<Endpoint>> {
    let path = with_query("/api/media/endpoints", [("limit", Some(MAX_ENDPOINTS))]);
    Ok(api.get::<RecordPage<Endpoint>>(&path).await?.records)
}

/// `notification 7 to hook: failed after 1 try, status 401: …`.
fn line(notification: &NotificationView) -> String {
    let NotificationView { id, endpoint, state, attempts, last_status, last_error, .. } = notification;
    let status = last_status.map(|status| format!(", status {status}")).unwrap_or_default();
    let error = last_error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
    let tries = if *attempts == 1 { "1 try".to_owned() } else { format!("{attempts} tries") };
    format!("notification {id} to {endpoint}: {state} after {tries}{status}{error}")
}

fn cells(notification: &NotificationView) -> Vec<String> {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        notification.id.to_string(),
        notification.endpoint.clone(),
        notification.event.clone(),
        or_dash(notification.body["id"].as_i64().map(|id| id.to_string())),
        notification.state.to_string(),
        notification.attempts.to_string(),
        or_dash(notification.last_status.map(|status| status.to_string())),
        or_dash(notification.next_attempt_at.or(notification.ended_at).map(time)),
        or_dash(notification.last_error.clone()),
    ]
}
