//! `appearances_sync`: reads the credits of the watched people.
//!
//! In: the enabled people, and the key of TMDb. Out: their appearances; one that is listed no more stays,
//! marked as gone, unless the answer lists none that is known. A person whose credits cannot be read keeps the reason in the row; where all fail, the job
//! does. Where the service asks to wait, the job waits with the rest of its people, and that person comes last.

use futures_util::future::BoxFuture;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::json;
use url::Url;

use super::report::{Poll, Report};
use super::wait::{AskError, Wait, ask};
use super::{CREDENTIAL_WORKS, fields, refused_credential, unless_stopped};
use crate::handlers::Context;
use ::media::clients::tmdb::{self, KeyKind, PersonCredits};
use ::media::clients::{Odd, ReadError};
use ::media::http::{Get, HttpError, Secrets};
use db::appearances::{self, SyncedPerson, Unread};
use db::credentials::{self, OpenCredential};
use db::tasks::waits_since;
use db::{DbError, Tx};
use domain::kinds::appearances_sync::Args;
use domain::role::Role;
use queue::{Outcome, TaskError, WriteResults};

const PLATFORM: &str = "tmdb";
/// Maximum number of people of one save.
const PEOPLE_PER_SAVE: usize = 20;
const MAX_CREDITS_BYTES: usize = 16 << 20;

pub async fn run(ctx: &Context, _: Args) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.client().await?;
    let since = waits_since(&client, ctx.task_id).await?;
    let people = appearances::people(&client, since).await?;
    let (done, people): (Vec<_>, Vec<_>) = people.into_iter().partition(|person| person.is_done);
    let mut report = Report::new(Role::AppearancesSync, "people", &["added", "gone"]);
    report.resume(done.into_iter().map(|person| person.last_error));
    if people.is_empty() {
        return report.outcome();
    }
    let key = credentials::open_of_platform(&client, PLATFORM, &ctx.services.media.keys).await?;
    drop(client);
    for (nth, batch) in people.chunks(PEOPLE_PER_SAVE).enumerate() {
        if !report.goes_on(ctx, nth * PEOPLE_PER_SAVE, people.len()).await {
            break;
        }
        let mut poll = unless_stopped(ctx, CreditsPoll::run(ctx, batch, &key)).await?;
        let (wait, refusal) = (poll.wait.take(), poll.refusal.take());
        report.save(ctx, poll.people.len(), poll).await?;
        match refusal {
            Some(error @ SyncError::Key) => return Err(refused_credential(ctx, key.id, &error).await),
            Some(error) => return Err(TaskError::permanent(error.to_string())),
            None => {}
        }
        if let Some(wait) = wait {
            report.wait(wait);
            break;
        }
    }
    report.outcome()
}

type Credits = Result<PersonCredits, String>;

#[derive(Debug, thiserror::Error)]
enum SyncError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("TMDb refuses the key: give another by `drover media set credentials ID --secret-file FILE`")]
    Key,
    #[error("the key of TMDb has characters that no header can have")]
    NotSendable,
    #[error("TMDb answers 403 Forbidden: it refuses this person, or the key for all")]
    Forbidden,
    #[error("TMDb knows no such person")]
    NoPerson,
    #[error("TMDb answers {0}")]
    Status(StatusCode),
}

async fn credits(ctx: &Context, person: &SyncedPerson, key: &OpenCredential) -> Result<PersonCredits, SyncError> {
    let media = &ctx.services.media;
    let url = tmdb::credits_url(&media.config.tmdb_url, person.tmdb_id);
    let get = Get { min_interval: tmdb::MIN_INTERVAL, ..with_key(url, &key.secret)? };
    let answer = ask(media, &get).await?;
    match answer.status {
        StatusCode::OK => Ok(tmdb::read(&answer.bytes(MAX_CREDITS_BYTES).await?)?),
        StatusCode::UNAUTHORIZED => Err(SyncError::Key),
        StatusCode::FORBIDDEN => Err(SyncError::Forbidden),
        StatusCode::NOT_FOUND => Err(SyncError::NoPerson),
        status => Err(SyncError::Status(status)),
    }
}

fn with_key(mut url: Url, key: &str) -> Result<Get, SyncError> {
    if KeyKind::of(key) == KeyKind::ApiKey {
        url.query_pairs_mut().append_pair("api_key", key);
        return Ok(Get { has_secret_query: true, ..Get::of(url) });
    }
    let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| SyncError::NotSendable)?;
    value.set_sensitive(true);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
    let secrets = Some(Secrets { origin: url.origin(), headers });
    Ok(Get { secrets, ..Get::of(url) })
}

/// Some people, each with the credits; a wait or a refusal of the key ended them.
struct CreditsPoll {
    credential: i64,
    people: Vec<(SyncedPerson, Credits)>,
    /// Number of them that the service refuses.
    forbidden: usize,
    /// The person at whom the service asked to wait.
    postponed: Option<i64>,
    wait: Option<Wait>,
    refusal: Option<SyncError>,
}

impl Poll for CreditsPoll {
    fn reasons(&self) -> Vec<String> {
        self.people.iter().filter_map(|(_, credits)| credits.as_ref().err().cloned()).collect()
    }

    fn lasting(&self) -> usize {
        self.forbidden
    }

    fn odd(&self) -> Odd {
        let mut all = Odd::default();
        for credits in self.people.iter().filter_map(|(_, credits)| credits.as_ref().ok()) {
            all.add(credits.appearances.odd.clone());
        }
        all
    }

    fn write<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> {
        Box::pin(self.store(tx))
    }
}

impl CreditsPoll {
    async fn run(ctx: &Context, people: &[SyncedPerson], key: &OpenCredential) -> CreditsPoll {
        let read = Vec::with_capacity(people.len());
        let mut poll =
            CreditsPoll { credential: key.id, people: read, forbidden: 0, postponed: None, wait: None, refusal: None };
        for person in people {
            match credits(ctx, person, key).await {
                Err(SyncError::Ask(AskError::Wait(wait))) => {
                    poll.postponed = wait.is_answer.then_some(person.id);
                    poll.wait = Some(wait);
                    break;
                }
                Err(error @ (SyncError::Key | SyncError::NotSendable)) => {
                    poll.refusal = Some(error);
                    break;
                }
                credits => {
                    poll.forbidden += usize::from(matches!(credits, Err(SyncError::Forbidden)));
                    poll.people.push((person.clone(), credits.map_err(|error| error.to_string())));
                }
            }
        }
        poll
    }

    async fn store(&self, tx: &Tx) -> Result<WriteResults, DbError> {
        let (mut added, mut gone, mut kept) = (0, 0, 0);
        for (person, credits) in &self.people {
            match credits {
                Err(reason) => appearances::note_sync(tx, person.id, Some(reason)).await?,
                Ok(PersonCredits { appearances: listed, unread, has_nameless }) => {
                    let unread = if *has_nameless { Unread::SomeUnknown } else { Unread::These(unread) };
                    let changes = appearances::replace(tx, person.id, &listed.elements, unread).await?;
                    (added, gone, kept) = (added + changes.added, gone + changes.gone, kept + changes.kept);
                }
            }
        }
        if let Some(person) = self.postponed {
            appearances::postpone(tx, person).await?;
        }
        if self.people.iter().any(|(_, credits)| credits.is_ok()) {
            credentials::note_result(tx, self.credential, CREDENTIAL_WORKS).await?;
        }
        let mut result = fields([("added", json!(added)), ("gone", json!(gone))]);
        if kept > 0 {
            result.insert("kept".to_owned(), json!(kept));
        }
        Ok(WriteResults { result, ..WriteResults::default() })
    }
}
