//! `notify`: sends an endpoint its notifications, one after the other.
//!
//! In: the pending rows of an endpoint, in the order of their ids. Out: each is sent at least once, always under the same
//! id, and marked in a short transaction after the answer; a run that dies in between sends it again. One that has to
//! wait holds back those behind it: the task waits with it, at no cost of a retry. It must not know jobs.

use std::time::{Duration, Instant};

use serde_json::json;

use super::Context;
use super::media::{stopped, unless_stopped};
use ::media::notify::{self, Notice, SendError, SendSecrets};
use db::credentials::{self, CredentialError, OpenCredential};
use db::notifications::{self, EndedTry, NextNotification};
use db::{Client, DbError};
use domain::args;
use domain::notification::{self, BadTarget, EndpointId, EndpointKind, NotificationState, PLATFORM, TEST, Target};
use domain::role::Role;
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;
use queue::{Outcome, TaskError, WriteResults};
use telemetry::events;

/// Maximum time of one wait: a test or a notification that is sent again may have come by then.
const MAX_WAIT: Duration = Duration::from_secs(15 * 60);
const GONE: &str = "the receiver answered 410: it wants no notification any more";

pub async fn run(ctx: &Context, args: args::Notify) -> Result<Outcome, TaskError> {
    let begun = Instant::now();
    let max_time = Role::Notify.time_limit() * 4 / 5;
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
        let prepared = Prepared::read(&client, &next, &ctx.services.media.keys).await;
        drop(client);
        let sent = match prepared {
            Ok(prepared) => unless_stopped(ctx, prepared.send(ctx, &next)).await?,
            Err(error) => Err(error),
        };
        let ended = ended(args.endpoint_id, &next, sent)?;
        match ended.state {
            NotificationState::Delivered => delivered += 1,
            _ => failed += 1,
        }
        save(ctx, &ended).await?;
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
    /// It says nothing about the endpoint.
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

    async fn send(&self, ctx: &Context, next: &NextNotification) -> Result<u16, TryError> {
        let NextNotification { id, event, created_at, body, .. } = next.clone();
        let notice = Notice { id, event, created_at, body };
        let now = Clock::system().utc();
        Ok(notify::send(&ctx.services.media.http, &self.target, &notice, &self.secrets, now).await?)
    }
}

/// Opens a credential that is for endpoints of this kind: also a row that was written by hand sends no other secret.
async fn own_credential(
    client: &Client,
    kind: EndpointKind,
    id: i64,
    keys: &SecretKeys,
) -> Result<OpenCredential, TryError> {
    let opened = credentials::open(client, id, keys).await?;
    match kind.takes(&opened.platform, &opened.kind) {
        true => Ok(opened),
        false => Err(TryError::Foreign(id)),
    }
}

/// The row as it is after this try.
fn ended(endpoint: EndpointId, next: &NextNotification, sent: Result<u16, TryError>) -> Result<EndedTry, TaskError> {
    let pending = EndedTry {
        id: next.id,
        state: NotificationState::Pending,
        status: None,
        error: None,
        wait: Duration::ZERO,
        disabled: None,
    };
    let error = match sent {
        Ok(status) => return Ok(EndedTry { state: NotificationState::Delivered, status: Some(status), ..pending }),
        Err(TryError::Db(error)) => return Err(error.into()),
        Err(error) => error,
    };
    let (status, retry_after) = match &error {
        TryError::Send(error) => (error.status(), error.retry_after()),
        _ => (None, None),
    };
    let ended = EndedTry { status, error: Some(error.to_string()), ..pending };
    if matches!(error, TryError::Send(SendError::Gone)) {
        // a test is answered; the others wait until a person enables the endpoint again
        let state = if next.event == TEST { NotificationState::Failed } else { NotificationState::Pending };
        return Ok(EndedTry { state, disabled: Some((endpoint, GONE.to_owned())), ..ended });
    }
    let tries = u32::try_from(next.attempts).unwrap_or_default().saturating_add(1);
    let is_last = next.is_old || next.event == TEST;
    Ok(match notification::delay_after(tries, retry_after).filter(|_| !is_last) {
        Some(wait) => EndedTry { wait, ..ended },
        None => EndedTry { state: NotificationState::Failed, ..ended },
    })
}

async fn save(ctx: &Context, ended: &EndedTry) -> Result<(), TaskError> {
    fail::fail_point!("notify.answered");
    let write = ctx.save(ended, |ended, tx| {
        Box::pin(async move {
            notifications::end_try(tx, ended).await?;
            Ok(WriteResults::default())
        })
    });
    write.await?;
    events::notification_tried(match ended.state {
        NotificationState::Delivered => "delivered",
        NotificationState::Pending => "retried",
        NotificationState::Failed => "failed",
    });
    Ok(())
}

fn wait(next: &NextNotification) -> TaskError {
    let after = Duration::try_from_secs_f64(next.wait).unwrap_or(MAX_WAIT).min(MAX_WAIT);
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
            event: event.to_owned(),
            body: Value::Null,
            attempts,
            created_at: DateTime::UNIX_EPOCH,
            kind: EndpointKind::Webhook,
            target: String::new(),
            credential_id: None,
            previous_credential_id: None,
            wait: 0.0,
            is_old: false,
        }
    }

    fn refused(retry_after: Option<u64>) -> Result<u16, TryError> {
        let retry_after = retry_after.map(Duration::from_secs);
        Err(TryError::Send(SendError::Refused { status: 503, retry_after }))
    }

    #[test]
    fn a_failed_try_waits_and_the_last_one_ends_the_notification() {
        let after = |attempts, retry_after| {
            let ended = ended(1, &next("job.failed", attempts), refused(retry_after)).unwrap();
            (ended.state, ended.status, ended.wait.as_secs())
        };
        assert_eq!(after(0, None), (NotificationState::Pending, Some(503), 5));
        assert_eq!(after(0, Some(60)), (NotificationState::Pending, Some(503), 60));
        assert_eq!(after(1, None), (NotificationState::Pending, Some(503), 300));
        assert_eq!(after(9, None), (NotificationState::Failed, Some(503), 0));
    }

    #[test]
    fn a_test_and_an_old_notification_have_one_try() {
        assert_eq!(ended(1, &next(TEST, 0), refused(None)).unwrap().state, NotificationState::Failed);
        let old = NextNotification { is_old: true, ..next("job.failed", 0) };
        assert_eq!(ended(1, &old, refused(None)).unwrap().state, NotificationState::Failed);
    }

    #[test]
    fn a_receiver_that_is_gone_disables_its_endpoint_and_loses_nothing() {
        let ended = ended(3, &next("job.failed", 0), Err(TryError::Send(SendError::Gone))).unwrap();
        assert_eq!((ended.state, ended.disabled), (NotificationState::Pending, Some((3, GONE.to_owned()))));
    }
}
