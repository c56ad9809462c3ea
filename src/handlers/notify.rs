//! `notify`: sends an endpoint its notifications, one after the other.
//!
//! In: the pending rows of an endpoint, in the order of their ids. Out: each is sent at least once, always under the same
//! id. The answer is written at once and by itself, whatever becomes of the run: only one that dies between the two sends
//! it again. One that has to wait holds back those behind it: the task waits with it, at no cost of a retry. It must not
//! know jobs.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{Context, stopped};
use db::access::credentials::{CredentialError, OpenCredential};
use db::notifications::{self, EndedTry, NextNotification};
use db::{Client, Db, DbError, access};
use delivery::{Handed, Notice, SendError, SendSecrets, Tried};
use domain::notification::recipient::Recipients;
use domain::notification::{
    self, BadTarget, EndpointId, EndpointKind, MailTarget, NotificationState, PLATFORM, TEST, Target,
};
use domain::task::kinds::notify::Args;
use domain::task::role::Role;
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;
use queue::{Outcome, TaskError};
use telemetry::events;

/// Maximum time of one wait: a test or a notification that is sent again may have come by then.
const MAX_WAIT: Duration = Duration::from_secs(15 * 60);
/// The same where others may come meanwhile that need not wait.
const MAX_WAIT_OF_SOME: Duration = Duration::from_secs(60);
/// Maximum time that a run which is stopped waits for the answer to a message that its receiver may have.
const MAX_FAREWELL: Duration = Duration::from_secs(8);
/// Maximum time for which the database is asked to keep an answer, and the pause between two attempts.
const MAX_RECORD_TIME: Duration = Duration::from_secs(10 * 60);
const RECORD_PAUSE: Duration = Duration::from_millis(500);
const GONE: &str = "the receiver answered 410 Gone: the endpoint was disabled";

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let begun = Instant::now();
    let max_time = Role::Notify.time_limit().saturating_sub(delivery::MAX_TIME);
    let (mut delivered, mut failed) = (0, 0);
    loop {
        if ctx.is_cancelled() {
            return Err(stopped());
        }
        let client = ctx.services.db.client().await?;
        let Some(next) = notifications::next(&client, args.endpoint_id).await? else { break };
        if next.wait > 0.0 || begun.elapsed() >= max_time {
            return Err(wait(&next));
        }
        let prepared = Prepared::read(&client, &next, &ctx.services.keys).await;
        drop(client);
        let tried = match prepared {
            Ok(prepared) => prepared.send_unless_stopped(ctx, &next).await?,
            Err(TryError::Db(error)) => return Err(error.into()),
            Err(error) => Answer::from(error),
        };
        let ended = ended(args.endpoint_id, &next, tried);
        match ended.state {
            NotificationState::Delivered => delivered += 1,
            _ => failed += 1,
        }
        record(ctx, ended).await?;
    }
    Ok(Outcome::done(json!({"delivered": delivered, "failed_tries": failed})).into())
}

#[derive(Debug, thiserror::Error)]
enum TryError {
    #[error(transparent)]
    Send(#[from] SendError),
    #[error("the target {0}")]
    Target(#[from] BadTarget),
    #[error(transparent)]
    Credential(CredentialError),
    #[error("credential {0} is not one of the platform {PLATFORM} and of the kind that the endpoint takes")]
    Foreign(i64),
    /// The error says nothing about the endpoint.
    #[error(transparent)]
    Db(DbError),
}

/// All that a try needs from the database.
struct Prepared {
    target: Target,
    secrets: SendSecrets,
}

impl Prepared {
    async fn read(client: &Client, next: &NextNotification, keys: &SecretKeys) -> Result<Prepared, TryError> {
        let target = Target::parse(next.kind, &next.target)?;
        let mut secrets = SendSecrets::default();
        if let Some(id) = next.credential_id {
            let current = own_credential(client, next.kind, id, keys).await?;
            (secrets.username, secrets.current) = (current.username, Some(current.secret));
        }
        if let Some(id) = next.previous_credential_id {
            secrets.previous = Some(own_credential(client, next.kind, id, keys).await?.secret);
        }
        Ok(Prepared { target, secrets })
    }

    /// Sends the message. A run that is stopped waits a little for the answer where the receiver may have the message.
    async fn send_unless_stopped(&self, ctx: &Context, next: &NextNotification) -> Result<Answer, TaskError> {
        let handed = Handed::default();
        let send = self.send(ctx, next, &handed);
        tokio::pin!(send);
        tokio::select! {
            tried = &mut send => return Ok(tried),
            () = ctx.cancelled() => {}
        }
        if !handed.is_noted() {
            return Err(stopped());
        }
        timeout(MAX_FAREWELL, send).await.map_err(|_| stopped())
    }

    async fn send(&self, ctx: &Context, next: &NextNotification, handed: &Handed) -> Answer {
        let NextNotification { message_id, event, created_at, body, recipients, .. } = next.clone();
        let is_settled = |mail: &MailTarget| mail.to.iter().all(|to| recipients.is_settled(to));
        if matches!(&self.target, Target::Mail(mail) if is_settled(mail)) {
            // its target has changed since: the others are not asked for any more
            return Answer { result: Ok(None), recipients: Recipients::default() };
        }
        let notice = Notice { message_id, event, created_at, body, recipients };
        let now = Clock::system().utc();
        let http = &ctx.services.http;
        let Tried { result, recipients } =
            delivery::send(http, &self.target, &notice, &self.secrets, now, handed).await;
        Answer { result: result.map(Some).map_err(TryError::Send), recipients }
    }
}

/// How a try ended. The status is none where nothing had to be sent.
struct Answer {
    result: Result<Option<u16>, TryError>,
    recipients: Recipients,
}

impl From<TryError> for Answer {
    fn from(error: TryError) -> Self {
        Answer { result: Err(error), recipients: Recipients::default() }
    }
}

/// Opens a credential that is for endpoints of this kind: also a row that was written by hand sends no other secret.
async fn own_credential(
    client: &Client,
    kind: EndpointKind,
    id: i64,
    keys: &SecretKeys,
) -> Result<OpenCredential, TryError> {
    let opened = access::credentials::open(client, id, keys).await?;
    match kind.takes(&opened.platform, &opened.kind) {
        true => Ok(opened),
        false => Err(TryError::Foreign(id)),
    }
}

/// The row as it is after this try.
fn ended(endpoint: EndpointId, next: &NextNotification, answer: Answer) -> EndedTry {
    let Answer { result, recipients } = answer;
    let known = next.recipients.clone().updated(recipients.clone());
    let (status, retry_after, fault, is_gone) = match &result {
        Ok(status) => (*status, None, None, false),
        Err(TryError::Send(error)) => {
            (error.status(), error.retry_after(), Some(error.to_string()), matches!(error, SendError::Gone))
        }
        Err(error) => (None, None, Some(error.to_string()), false),
    };
    let is_over = result.is_ok() && !known.is_waiting();
    let error = match (fault, known.faults()) {
        (Some(fault), Some(faults)) => Some(format!("{fault}; {faults}")),
        (fault, faults) => fault.or(faults),
    };
    // of a mail, someone has it; of the others, the answer accepts it
    let end = match known.has_delivery() || (is_over && known == Recipients::default()) {
        true => NotificationState::Delivered,
        false => NotificationState::Failed,
    };
    let ended = EndedTry { id: next.id, state: end, status, error, wait: Duration::ZERO, recipients, disabled: None };
    if is_gone {
        // a test is answered; the others wait until a person enables the endpoint again
        let state = if next.event == TEST { NotificationState::Failed } else { NotificationState::Pending };
        return EndedTry { state, disabled: Some((endpoint, GONE.to_owned())), ..ended };
    }
    let tries = u32::try_from(next.attempts).unwrap_or_default().saturating_add(1);
    let is_last = is_over || next.is_old || next.event == TEST;
    match notification::delay_after(tries, retry_after).filter(|_| !is_last) {
        Some(wait) => EndedTry { state: NotificationState::Pending, wait, ..ended },
        None => ended,
    }
}

/// Writes the answer, also after the run has lost its task: the receiver has the message, however the run ends. A database
/// that is away is asked again.
async fn record(ctx: &Context, ended: EndedTry) -> Result<(), TaskError> {
    fail::fail_point!("notify.answered");
    let (db, state) = (ctx.services.db.clone(), ended.state);
    let recorded = tokio::spawn(async move { recorded(&db, &ended).await });
    recorded.await.map_err(|error| TaskError::retry(error.to_string()))??;
    events::notification_tried(match state {
        NotificationState::Delivered => "delivered",
        NotificationState::Pending => "retried",
        NotificationState::Failed => "failed",
    });
    fail::fail_point!("notify.recorded");
    Ok(())
}

async fn recorded(db: &Db, ended: &EndedTry) -> Result<(), DbError> {
    let begun = Instant::now();
    loop {
        match try_record(db, ended).await {
            Err(error) if error.is_external() && begun.elapsed() < MAX_RECORD_TIME => sleep(RECORD_PAUSE).await,
            result => return result,
        }
    }
}

async fn try_record(db: &Db, ended: &EndedTry) -> Result<(), DbError> {
    notifications::end_try(&db.client().await?, ended).await
}

fn wait(next: &NextNotification) -> TaskError {
    let max_wait = if next.holds_back { MAX_WAIT } else { MAX_WAIT_OF_SOME };
    let after = Duration::try_from_secs_f64(next.wait).unwrap_or(max_wait).min(max_wait);
    let reason = format!("notification {} is tried again later", next.id);
    TaskError::Snooze { reason, after: Some(after), host: None }
}

impl From<CredentialError> for TryError {
    fn from(error: CredentialError) -> Self {
        match error {
            CredentialError::Db(error) => TryError::Db(error),
            other => TryError::Credential(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::Value;

    use super::*;

    fn next(event: &str, attempts: i32) -> NextNotification {
        NextNotification {
            id: 7,
            message_id: "msg_7".to_owned(),
            event: event.to_owned(),
            body: Value::Null,
            recipients: Recipients::default(),
            attempts,
            created_at: DateTime::UNIX_EPOCH,
            kind: EndpointKind::Webhook,
            target: String::new(),
            credential_id: None,
            previous_credential_id: None,
            holds_back: true,
            wait: 0.0,
            is_old: false,
        }
    }

    fn refused(retry_after: Option<u64>) -> Answer {
        let retry_after = retry_after.map(Duration::from_secs);
        TryError::Send(SendError::Refused { status: 503, retry_after }).into()
    }

    #[test]
    fn a_failed_try_waits_and_the_last_one_ends_the_notification() {
        let after = |attempts, retry_after| {
            let ended = ended(1, &next("job.failed", attempts), refused(retry_after));
            (ended.state, ended.status, ended.wait.as_secs())
        };
        assert_eq!(after(0, None), (NotificationState::Pending, Some(503), 5));
        assert_eq!(after(0, Some(60)), (NotificationState::Pending, Some(503), 60));
        assert_eq!(after(1, None), (NotificationState::Pending, Some(503), 300));
        assert_eq!(after(9, None), (NotificationState::Failed, Some(503), 0));
    }

    #[test]
    fn a_test_and_an_old_notification_have_one_try() {
        assert_eq!(ended(1, &next(TEST, 0), refused(None)).state, NotificationState::Failed);
        let old = NextNotification { is_old: true, ..next("job.failed", 0) };
        assert_eq!(ended(1, &old, refused(None)).state, NotificationState::Failed);
    }

    #[test]
    fn a_receiver_that_is_gone_disables_its_endpoint_and_loses_nothing() {
        let ended = ended(3, &next("job.failed", 0), TryError::Send(SendError::Gone).into());
        assert_eq!((ended.state, ended.disabled), (NotificationState::Pending, Some((3, GONE.to_owned()))));
    }
}
