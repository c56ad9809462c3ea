//! `appearances_sync`: reads the credits of the watched people.
//!
//! In: the enabled people, and the key of TMDb. Out: their appearances; one that is listed no more stays,
//! marked as gone, unless the answer lists none that is known. A person whose credits cannot be read keeps the reason in
//! the row; where all fail, the job fails. Where the service asks to wait, the job waits with the rest of its people, and that person comes last.

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::json;
use url::Url;

use super::monitor::{Asked, Polled, Service, ServiceError, monitor};
use super::report::Report;
use super::wait::ask;
use super::{CREDENTIAL_WORKS, fields};
use crate::handlers::Context;
use ::media::clients::Odd;
use ::media::clients::tmdb::{self, KeyKind, PersonCredits};
use db::access::credentials::OpenCredential;
use db::media::appearances::{SyncedPerson, Unread};
use db::tasks::waits_since;
use db::{DbError, Tx, access};
use domain::task::kinds::appearances_sync::Args;
use domain::task::role::Role;
use public_http::{Get, Secrets};
use queue::{Outcome, TaskError, WriteResults};

const PLATFORM: &str = "tmdb";
const MAX_CREDITS_BYTES: usize = 16 << 20;
const NOT_SENDABLE: &str = "the key of TMDb contains characters that a header cannot have";

pub async fn run(ctx: &Context, _: Args) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.client().await?;
    let since = waits_since(&client, ctx.task_id).await?;
    let people = db::media::appearances::people(&client, since).await?;
    let (done, people): (Vec<_>, Vec<_>) = people.into_iter().partition(|person| person.is_done);
    let mut report = Report::new(Role::AppearancesSync, "people", &["added", "gone"]);
    report.resume(done.into_iter().map(|person| person.last_error));
    if people.is_empty() {
        return report.outcome();
    }
    let key = access::credentials::open_of_platform(&client, PLATFORM, &ctx.services.keys).await?;
    drop(client);
    monitor(ctx, &Tmdb { key }, &people, report).await
}

struct Tmdb {
    key: OpenCredential,
}

impl Service for Tmdb {
    type Thing = SyncedPerson;
    type Answer = PersonCredits;

    const PER_SAVE: usize = 20;

    async fn ask(&self, ctx: &Context, person: &SyncedPerson) -> Asked<PersonCredits> {
        self.credits(ctx, person).await.map_err(|error| (None, error))
    }

    fn odd(credits: &PersonCredits) -> Odd {
        credits.appearances.odd.clone()
    }

    async fn store(&self, tx: &Tx, polled: &[Polled<SyncedPerson, PersonCredits>]) -> Result<WriteResults, DbError> {
        let (mut added, mut gone, mut kept) = (0, 0, 0);
        for poll in polled {
            if let Some(reason) = poll.failure() {
                db::media::appearances::note_sync(tx, poll.thing.id, Some(&reason)).await?;
            }
            let Some(PersonCredits { appearances: listed, unread, has_nameless }) = &poll.answer else { continue };
            let unread = if *has_nameless { Unread::SomeUnknown } else { Unread::These(unread) };
            let changes = db::media::appearances::replace(tx, poll.thing.id, &listed.elements, unread).await?;
            (added, gone, kept) = (added + changes.added, gone + changes.gone, kept + changes.kept);
        }
        if polled.iter().any(Polled::is_read) {
            access::credentials::note_result(tx, self.key.id, CREDENTIAL_WORKS).await?;
        }
        let mut result = fields([("added", json!(added)), ("gone", json!(gone))]);
        if kept > 0 {
            result.insert("kept".to_owned(), json!(kept));
        }
        Ok(WriteResults { result, ..WriteResults::default() })
    }

    async fn postpone(tx: &Tx, person: &SyncedPerson) -> Result<(), DbError> {
        db::media::appearances::postpone(tx, person.id).await
    }
}

impl Tmdb {
    async fn credits(&self, ctx: &Context, person: &SyncedPerson) -> Result<PersonCredits, ServiceError> {
        let media = &ctx.services.media;
        let url = tmdb::credits_url(&media.config.tmdb_url, person.tmdb_id);
        let get = Get { min_interval: tmdb::MIN_INTERVAL, ..with_key(url, &self.key.secret)? };
        let answer = ask(&ctx.services, &get).await?;
        match answer.status {
            StatusCode::OK => Ok(tmdb::read(&answer.bytes(MAX_CREDITS_BYTES).await?)?),
            StatusCode::UNAUTHORIZED => Err(ServiceError::Credential(
                self.key.id,
                "TMDb refuses the key: give another one with `drover media set credentials ID --secret-file FILE`",
            )),
            StatusCode::FORBIDDEN => Err(ServiceError::Forbidden(
                "TMDb answers 403 Forbidden: it refuses this person, or the key altogether",
            )),
            StatusCode::NOT_FOUND => Err(ServiceError::Other("TMDb does not know this person".to_owned())),
            status => Err(ServiceError::Other(format!("TMDb answers {status}"))),
        }
    }
}

fn with_key(mut url: Url, key: &str) -> Result<Get, ServiceError> {
    if KeyKind::of(key) == KeyKind::ApiKey {
        url.query_pairs_mut().append_pair("api_key", key);
        return Ok(Get { has_secret_query: true, ..Get::of(url) });
    }
    let value = HeaderValue::try_from(format!("Bearer {key}"));
    let mut value = value.map_err(|_| ServiceError::NotSendable(NOT_SENDABLE))?;
    value.set_sensitive(true);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
    let secrets = Some(Secrets { origin: url.origin(), headers });
    Ok(Get { secrets, ..Get::of(url) })
}
