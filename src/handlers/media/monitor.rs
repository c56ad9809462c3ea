//! `monitor`: asks a service about each watched thing, and saves some of the answers at a time.
//!
//! In: the things, and how the service is asked. Out: how the job ends. A fault costs the thing that it is about, and
//! no other. Where the service asks to wait, the job waits with the rest, and the thing at which it asked comes last;
//! where it refuses the credential, the job fails. It must not know what is asked.

use std::pin::pin;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};

use super::report::{Poll, Report};
use super::wait::{AskError, Wait};
use super::{refused_credential, unless_stopped};
use crate::handlers::Context;
use ::media::clients::{Odd, ReadError};
use db::{DbError, Tx};
use public_http::HttpError;
use queue::{Outcome, TaskError, WriteResults};

pub trait Service: Sync {
    type Thing: Clone + Send + Sync;
    type Answer: Send + Sync;

    /// Maximum number of things of one save.
    const PER_SAVE: usize;
    /// Maximum number of things about which it is asked at a time.
    const CONCURRENCY: usize = 1;

    fn ask(&self, ctx: &Context, thing: &Self::Thing) -> impl Future<Output = Asked<Self::Answer>> + Send;

    /// Elements of an answer that could not be read.
    fn odd(answer: &Self::Answer) -> Odd;

    /// Writes the answers and the failures. The numbers of its result are the job's.
    fn store(
        &self,
        tx: &Tx,
        polled: &[Polled<Self::Thing, Self::Answer>],
    ) -> impl Future<Output = Result<WriteResults, DbError>> + Send;

    /// Puts a thing behind the others.
    fn postpone(tx: &Tx, thing: &Self::Thing) -> impl Future<Output = Result<(), DbError>> + Send;
}

/// An answer, or an error with the part of the answer before it.
pub type Asked<A> = Result<A, (Option<A>, ServiceError)>;

#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The service refuses the credential with this id, whatever is asked.
    #[error("{1}")]
    Credential(i64, &'static str),
    /// The credential cannot be sent.
    #[error("{0}")]
    NotSendable(&'static str),
    /// The service refuses this thing, also when it is asked again.
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("{0}")]
    Other(String),
}

/// A thing, its answer, and the error that ended it.
pub struct Polled<T, A> {
    pub thing: T,
    pub answer: Option<A>,
    error: Option<ServiceError>,
}

/// Asks `service` about all of `things`, unless the job's time ends before.
pub async fn monitor<S: Service>(
    ctx: &Context,
    service: &S,
    things: &[S::Thing],
    mut report: Report,
) -> Result<Outcome, TaskError> {
    for (nth, batch) in things.chunks(S::PER_SAVE).enumerate() {
        if !report.goes_on(ctx, nth * S::PER_SAVE, things.len()).await {
            break;
        }
        let polls = unless_stopped(ctx, Polls::run(ctx, service, batch)).await?;
        let over = polls.polled.iter().filter(|polled| polled.is_over()).count();
        report.save(ctx, over, &polls).await?;
        let errors = polls.polled.into_iter().filter_map(|polled| polled.error);
        let ends: Vec<ServiceError> = errors.filter(ServiceError::ends_job).collect();
        let is_last = !ends.is_empty();
        for end in ends {
            match end {
                ServiceError::Ask(AskError::Wait(wait)) => report.wait(wait),
                ServiceError::Credential(id, _) => return Err(refused_credential(ctx, id, &end).await),
                refusal => return Err(TaskError::permanent(refusal.to_string())),
            }
        }
        if is_last {
            break;
        }
    }
    report.outcome()
}

/// The things of one save.
struct Polls<'a, S: Service> {
    service: &'a S,
    polled: Vec<Polled<S::Thing, S::Answer>>,
}

impl<'a, S: Service> Polls<'a, S> {
    async fn run(ctx: &Context, service: &'a S, things: &[S::Thing]) -> Polls<'a, S> {
        let mut polls = Polls { service, polled: Vec::with_capacity(things.len()) };
        let asks = stream::iter(things.to_vec()).map(async |thing| match service.ask(ctx, &thing).await {
            Ok(answer) => Polled { thing, answer: Some(answer), error: None },
            Err((answer, error)) => Polled { thing, answer, error: Some(error) },
        });
        let mut asks = pin!(asks.buffer_unordered(S::CONCURRENCY));
        while let Some(polled) = asks.next().await {
            // with concurrency, the answers of others are on their way
            let is_last = S::CONCURRENCY == 1 && !polled.is_over();
            polls.polled.push(polled);
            if is_last {
                break;
            }
        }
        polls
    }

    async fn store(&self, tx: &Tx) -> Result<WriteResults, DbError> {
        let results = self.service.store(tx, &self.polled).await?;
        for polled in &self.polled {
            if let Some(ServiceError::Ask(AskError::Wait(Wait { is_answer: true, .. }))) = polled.error {
                S::postpone(tx, &polled.thing).await?;
            }
        }
        Ok(results)
    }
}

impl<S: Service> Poll for &Polls<'_, S> {
    fn reasons(&self) -> Vec<String> {
        self.polled.iter().filter_map(Polled::failure).collect()
    }

    fn lasting(&self) -> usize {
        self.polled.iter().filter(|polled| matches!(polled.error, Some(ServiceError::Forbidden(_)))).count()
    }

    fn odd(&self) -> Odd {
        let mut all = Odd::default();
        self.polled.iter().filter_map(|polled| polled.answer.as_ref()).for_each(|answer| all.add(S::odd(answer)));
        all
    }

    fn write<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> {
        Box::pin(self.store(tx))
    }
}

impl<T, A> Polled<T, A> {
    pub fn is_read(&self) -> bool {
        self.error.is_none()
    }

    /// Whether the try came to its end, well or not.
    pub fn is_over(&self) -> bool {
        self.error.as_ref().is_none_or(|error| !error.ends_job())
    }

    pub fn failure(&self) -> Option<String> {
        self.error.as_ref().filter(|error| !error.ends_job()).map(ToString::to_string)
    }
}

impl ServiceError {
    /// No other thing is asked about after it.
    fn ends_job(&self) -> bool {
        use ServiceError::{Ask, Credential, NotSendable};
        matches!(self, Ask(AskError::Wait(_)) | Credential(..) | NotSendable(_))
    }
}
