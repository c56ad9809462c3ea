//! `Places`: how many connections a server has at once. Where all are taken and another client comes, the
//! connection that has been idle longest is closed: clients that send nothing, or slowly, keep no others out.
//!
//! A connection is idle while it waits for its client: for a request, and where no token or login says whose
//! it is, for its body, and until its answer is read. So a client without a token can hold only places for
//! requests that the server works on.
//!
//! It must not know the requests' targets.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// How long a connection is idle at least before it is closed: a new one is about to send its request, a kept
/// one the next.
const GRACE: Duration = Duration::from_millis(200);

pub struct Places {
    free: Arc<Semaphore>,
    idle: Mutex<Idle>,
    /// A connection has become idle.
    became_idle: Notify,
}

/// Idle connections, in the order in which they became so.
#[derive(Default)]
struct Idle {
    last: u64,
    connections: BTreeMap<u64, (Instant, Arc<Eviction>)>,
}

/// Handshake for evicting an idle connection whose place another client needs.
#[derive(Default)]
struct Eviction {
    wanted: Notify,
    kept: Notify,
}

/// A connection's place, as an extension of its requests.
#[derive(Clone)]
pub struct Place(Arc<PlaceState>);

struct PlaceState {
    places: Arc<Places>,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    eviction: Arc<Eviction>,
    /// Its number among [`Idle::connections`].
    idle_as: Mutex<Option<u64>>,
    /// Whether it is known who makes the request.
    has_known_caller: AtomicBool,
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
        let place = PlaceState {
            places: self.clone(),
            permit: Mutex::new(Some(permit)),
            eviction: Arc::default(),
            idle_as: Mutex::default(),
            has_known_caller: AtomicBool::new(false),
        };
        place.become_idle();
        Some(Place(Arc::new(place)))
    }

    async fn free_one(&self) -> Option<OwnedSemaphorePermit> {
        let freed = self.free.clone().acquire_owned();
        tokio::pin!(freed);
        loop {
            tokio::select! {
                biased;
                permit = &mut freed => return permit.ok(),
                () = self.evict_one() => {}
            }
        }
    }

    /// Ready when another must be tried.
    async fn evict_one(&self) {
        // before looking, so that none is overlooked
        let became_idle = self.became_idle.notified();
        let Some(since) = self.longest_idle_since() else { return became_idle.await };
        sleep_until(since + GRACE).await;
        let Some(eviction) = self.take_longest_idle() else { return };
        eviction.wanted.notify_one();
        eviction.kept.notified().await;
    }

    fn longest_idle_since(&self) -> Option<Instant> {
        lock(&self.idle).connections.first_key_value().map(|(_, (since, _))| *since)
    }

    fn take_longest_idle(&self) -> Option<Arc<Eviction>> {
        let mut idle = lock(&self.idle);
        let longest = idle.connections.first_entry().filter(|longest| longest.get().0.elapsed() >= GRACE)?;
        Some(longest.remove().1)
    }
}

impl Place {
    /// Gives it to another client; the connection goes on.
    pub fn free(&self) {
        lock(&self.0.permit).take();
    }

    /// Until another client needs it. The connection then ends, or [keeps](Place::keep) it.
    pub async fn wanted(&self) {
        self.0.eviction.wanted.notified().await;
    }

    /// For a request that came before the connection was closed; false without one.
    pub fn keep(&self) -> bool {
        let is_busy = !self.0.is_idle();
        if is_busy {
            self.0.eviction.kept.notify_one();
        }
        is_busy
    }

    /// The caller of the request has a right to it until the answer is read.
    pub fn note_known_caller(&self) {
        self.0.has_known_caller.store(true, Ordering::Relaxed);
    }

    fn has_known_caller(&self) -> bool {
        self.0.has_known_caller.load(Ordering::Relaxed)
    }

    /// Until the end of a request, which is that of its answer.
    fn occupy(&self) -> Occupied {
        self.0.has_known_caller.store(false, Ordering::Relaxed);
        self.0.end_idle();
        Occupied(self.clone())
    }
}

impl PlaceState {
    fn become_idle(&self) {
        if lock(&self.permit).is_none() {
            return; // closing it would free no place
        }
        let mut idle_as = lock(&self.idle_as);
        if idle_as.is_some() {
            return;
        }
        let mut idle = lock(&self.places.idle);
        idle.last += 1;
        let number = idle.last;
        idle.connections.insert(number, (Instant::now(), self.eviction.clone()));
        *idle_as = Some(number);
        self.places.became_idle.notify_one();
    }

    fn end_idle(&self) {
        if let Some(number) = lock(&self.idle_as).take() {
            lock(&self.places.idle).connections.remove(&number);
        }
    }

    fn is_idle(&self) -> bool {
        lock(&self.idle_as).is_some()
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
    let answer = next.run(request).await;
    if !place.has_known_caller() {
        return answer;
    }
    answer.map(|body| Body::new(OccupyingBody { body, _occupied: occupied }))
}

/// Waits for bytes from the client of `place`.
pub async fn receive<T>(place: Option<Place>, sent: impl Future<Output = T>) -> T {
    let Some(place) = place.filter(|place| !place.has_known_caller()) else { return sent.await };
    place.0.become_idle();
    let received = sent.await;
    place.0.end_idle();
    received
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
        drop(first.occupy());
        let taking = take(&places);
        tokio::select! {
            () = first.wanted() => panic!("it answered last"),
            () = second.wanted() => assert!(!second.keep()),
        }
        drop(second);
        assert!(taking.await.unwrap());
    }

    #[tokio::test]
    async fn a_connection_that_answers_keeps_its_place_until_it_has_answered() {
        let places = Places::new(1);
        let place = places.take().await.unwrap();
        let occupied = place.occupy();
        let taking = take(&places);
        tokio::task::yield_now().await;
        assert!(!taking.is_finished());
        drop(occupied);
        place.wanted().await;
        drop(place);
        assert!(taking.await.unwrap());
    }

    #[tokio::test]
    async fn a_connection_that_has_a_request_after_all_keeps_its_place_and_another_gives_its_own() {
        let places = Places::new(2);
        let (first, second) = (places.take().await.unwrap(), places.take().await.unwrap());
        let taking = take(&places);
        first.wanted().await;
        let _occupied = first.occupy();
        assert!(first.keep());
        second.wanted().await;
        drop(second);
        assert!(taking.await.unwrap());
    }

    #[tokio::test]
    async fn a_connection_is_let_alone_for_a_moment() {
        let places = Places::new(1);
        let (begun, place) = (Instant::now(), places.take().await.unwrap());
        let _taking = take(&places);
        place.wanted().await;
        assert!(begun.elapsed() >= GRACE);
    }

    #[tokio::test]
    async fn a_body_from_somebody_without_a_token_keeps_no_place() {
        let places = Places::new(1);
        let place = places.take().await.unwrap();
        let occupied = place.occupy();
        let receiving = tokio::spawn(receive(Some(place.clone()), std::future::pending::<()>()));
        let taking = take(&places);
        place.wanted().await;
        assert!(!place.keep());
        receiving.abort();
        let _ = receiving.await;
        drop((occupied, place));
        assert!(taking.await.unwrap());
    }

    #[tokio::test]
    async fn a_body_from_a_known_caller_keeps_its_place() {
        let places = Places::new(1);
        let place = places.take().await.unwrap();
        let _occupied = place.occupy();
        place.note_known_caller();
        let receiving = receive(Some(place.clone()), std::future::ready(()));
        assert!(!place.0.is_idle());
        receiving.await;
        assert!(!place.0.is_idle());
    }

    #[tokio::test]
    async fn a_place_that_its_connection_gave_away_is_taken_at_once() {
        let places = Places::new(1);
        let listener = places.take().await.unwrap();
        let _occupied = listener.occupy();
        listener.free();
        assert!(places.take().await.is_some());
    }

    fn take(places: &Arc<Places>) -> tokio::task::JoinHandle<bool> {
        let places = places.clone();
        tokio::spawn(async move { places.take().await.is_some() })
    }
}
