//! `Places`: how many connections a server has at once. Where all are taken and another client comes, the connection that has gone
//! longest without a request is closed: clients that send nothing keep nobody out.
//!
//! It must not know what is asked for.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

pub struct Places {
    free: Arc<Semaphore>,
    idle: Mutex<Idle>,
    /// A connection has become idle.
    became_idle: Notify,
}

/// Connections without a request, in the order in which they became so.
#[derive(Default)]
struct Idle {
    last: u64,
    connections: BTreeMap<u64, CancellationToken>,
}

/// A connection's place, as an extension of its requests.
#[derive(Clone)]
pub struct Place(Arc<PlaceState>);

struct PlaceState {
    places: Arc<Places>,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    closed: CancellationToken,
    /// Its number among [`Idle::connections`].
    idle_as: Mutex<Option<u64>>,
}

impl Places {
    pub fn new(connections: usize) -> Arc<Self> {
        let (idle, became_idle) = (Mutex::default(), Notify::new());
        Arc::new(Places { free: Arc::new(Semaphore::new(connections)), idle, became_idle })
    }

    /// A place for a client that is there, once one is free or was freed for it.
    pub async fn take(self: &Arc<Self>) -> Option<Place> {
        let permit = match self.free.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => self.free_one().await?,
        };
        let (permit, idle_as) = (Mutex::new(Some(permit)), Mutex::default());
        let place = PlaceState { places: self.clone(), permit, closed: CancellationToken::new(), idle_as };
        place.become_idle();
        Some(Place(Arc::new(place)))
    }

    async fn free_one(&self) -> Option<OwnedSemaphorePermit> {
        let freed = self.free.clone().acquire_owned();
        tokio::pin!(freed);
        loop {
            // before looking, so that none is overlooked
            let became_idle = self.became_idle.notified();
            if self.close_longest_idle() {
                return freed.await.ok();
            }
            tokio::select! {
                permit = &mut freed => return permit.ok(),
                () = became_idle => {}
            }
        }
    }

    fn close_longest_idle(&self) -> bool {
        let longest = lock(&self.idle).connections.pop_first();
        longest.inspect(|(_, closed)| closed.cancel()).is_some()
    }
}

impl Place {
    /// Gives it to another client; the connection goes on.
    pub fn free(&self) {
        lock(&self.0.permit).take();
    }

    /// Cancelled when the connection must end for another client.
    pub fn closed(&self) -> CancellationToken {
        self.0.closed.clone()
    }

    /// Until the end of a request, which is that of its answer.
    fn occupy(&self) -> Occupied {
        self.0.end_idle();
        Occupied(self.clone())
    }
}

impl PlaceState {
    fn become_idle(&self) {
        if lock(&self.permit).is_none() {
            return; // closing it would free no place
        }
        let mut idle = lock(&self.places.idle);
        idle.last += 1;
        let number = idle.last;
        idle.connections.insert(number, self.closed.clone());
        drop(idle);
        *lock(&self.idle_as) = Some(number);
        self.places.became_idle.notify_one();
    }

    fn end_idle(&self) {
        if let Some(number) = lock(&self.idle_as).take() {
            lock(&self.places.idle).connections.remove(&number);
        }
    }
}

impl Drop for PlaceState {
    fn drop(&mut self) {
        self.end_idle();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection answers one request at a time.
struct Occupied(Place);

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.0.become_idle();
    }
}

/// Middleware: a connection is not idle while it answers.
pub async fn occupy(place: Option<Extension<Place>>, request: Request, next: Next) -> Response {
    let Some(Extension(place)) = place else { return next.run(request).await };
    let occupied = place.occupy();
    next.run(request).await.map(|body| Body::new(OccupyingBody { body, _occupied: occupied }))
}

struct OccupyingBody {
    body: Body,
    _occupied: Occupied,
}

impl HttpBody for OccupyingBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_connection_that_has_been_idle_longest_gives_its_place_to_a_new_client() {
        let places = Places::new(2);
        let (first, second) = (places.take().await.unwrap(), places.take().await.unwrap());
        let (is_first_closed, is_second_closed) = (first.closed(), second.closed());
        drop(first.occupy());
        let ending = tokio::spawn(async move {
            second.closed().cancelled().await;
            drop(second);
        });
        let third = places.take().await.unwrap();
        ending.await.unwrap();
        assert!(is_second_closed.is_cancelled() && !is_first_closed.is_cancelled() && !third.closed().is_cancelled());
    }

    #[tokio::test]
    async fn a_connection_that_answers_keeps_its_place_until_it_has_answered() {
        let places = Places::new(1);
        let place = places.take().await.unwrap();
        let occupied = place.occupy();
        let taking = tokio::spawn({
            let places = places.clone();
            async move { places.take().await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!place.closed().is_cancelled() && !taking.is_finished());
        drop(occupied);
        place.closed().cancelled().await;
        drop(place);
        assert!(taking.await.unwrap());
    }

    #[tokio::test]
    async fn a_place_that_its_connection_gave_away_is_taken_at_once() {
        let places = Places::new(1);
        let listener = places.take().await.unwrap();
        let _occupied = listener.occupy();
        listener.free();
        assert!(places.take().await.is_some() && !listener.closed().is_cancelled());
    }
}
