//! Receivers of webhooks and topics of ntfy: they keep each delivery, and answer by a script.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderMap, Method, StatusCode};
use serde_json::json;

use super::answer::{self, Answer, Request, bearer, json_of, with};
use super::world::World;

/// Maximum number of receivers, of deliveries that one keeps, and of bytes of their bodies.
const MAX_RECEIVERS: usize = 200;
const MAX_DELIVERIES: usize = 1_000;
const MAX_BYTES: usize = 8 << 20;
/// Maximum time that a slow answer takes.
const MAX_SLOWNESS: Duration = Duration::from_secs(60);

/// A request as it came, answered however.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The status of its answer.
    pub status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// A status without a body.
    Status(u16),
    /// 302 to the other origin.
    Redirect,
    /// 429; without `retry_after` the header is absent.
    Throttled { retry_after: Option<Duration> },
    /// 200 after that time, at most a minute.
    Slow(Duration),
}

/// Answers of a receiver; without a script each is 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookScript {
    /// One after the other, then 200.
    Once(Vec<HookAnswer>),
    /// One after the other, again and again: half of the deliveries fail by `[Status(500), Status(200)]`.
    Cycle(Vec<HookAnswer>),
}

#[derive(Default)]
pub(super) struct Hooks(Mutex<BTreeMap<String, Receiver>>);

#[derive(Default)]
struct Receiver {
    deliveries: VecDeque<Delivery>,
    bytes: usize,
    answers: VecDeque<HookAnswer>,
    is_cycle: bool,
}

impl Hooks {
    pub(super) fn script(&self, name: &str, script: HookScript) {
        let (answers, is_cycle) = match script {
            HookScript::Once(answers) => (answers, false),
            HookScript::Cycle(answers) => (answers, true),
        };
        if let Some(receiver) = receiver(&mut self.lock(), &hook(name)) {
            (receiver.answers, receiver.is_cycle) = (answers.into(), is_cycle);
        }
    }

    pub(super) fn of_hook(&self, name: &str) -> Vec<Delivery> {
        self.deliveries(&hook(name))
    }

    pub(super) fn of_topic(&self, topic: &str) -> Vec<Delivery> {
        self.deliveries(&self::topic(topic))
    }

    fn deliveries(&self, key: &str) -> Vec<Delivery> {
        self.lock().get(key).map(|receiver| receiver.deliveries.iter().cloned().collect()).unwrap_or_default()
    }

    /// The answer that is next.
    fn next_answer(&self, key: &str) -> HookAnswer {
        let mut receivers = self.lock();
        let usual = HookAnswer::Status(200);
        let Some(receiver) = receiver(&mut receivers, key) else { return HookAnswer::Status(503) };
        let Some(answer) = receiver.answers.pop_front() else { return usual };
        if receiver.is_cycle {
            receiver.answers.push_back(answer.clone());
        }
        answer
    }

    fn keep(&self, key: &str, request: &Request, status: StatusCode) {
        let mut receivers = self.lock();
        let Some(receiver) = receiver(&mut receivers, key) else { return };
        let delivery =
            Delivery { headers: request.headers().clone(), body: request.body().clone(), status: status.as_u16() };
        receiver.bytes += delivery.body.len();
        receiver.deliveries.push_back(delivery);
        while receiver.deliveries.len() > MAX_DELIVERIES || receiver.bytes > MAX_BYTES {
            let Some(oldest) = receiver.deliveries.pop_front() else { return };
            receiver.bytes -= oldest.body.len();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Receiver>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// None: there are too many already.
fn receiver<'a>(receivers: &'a mut BTreeMap<String, Receiver>, key: &str) -> Option<&'a mut Receiver> {
    let has_room = receivers.len() < MAX_RECEIVERS || receivers.contains_key(key);
    has_room.then(|| receivers.entry(key.to_owned()).or_default())
}

fn hook(name: &str) -> String {
    format!("hooks/{name}")
}

fn topic(name: &str) -> String {
    format!("ntfy/{name}")
}

/// `POST /hooks/{name}`
pub(super) async fn respond(world: &World, request: &Request, name: &str) -> Answer {
    if request.method() != Method::POST {
        return answer::not_allowed();
    }
    let key = hook(name);
    let scripted = world.hooks.next_answer(&key);
    let answer = answer_of(world, request, &scripted);
    // before the wait, for a client that does not wait so long
    world.hooks.keep(&key, request, answer.status());
    if let HookAnswer::Slow(time) = scripted {
        tokio::time::sleep(time.min(MAX_SLOWNESS)).await;
    }
    answer
}

fn answer_of(world: &World, request: &Request, scripted: &HookAnswer) -> Answer {
    match scripted {
        HookAnswer::Status(status) => {
            answer::text(StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), "")
        }
        HookAnswer::Slow(_) => answer::text(StatusCode::OK, ""),
        HookAnswer::Redirect => {
            let location = format!("{}{}", world.elsewhere, request.uri().path());
            with(answer::text(StatusCode::FOUND, ""), LOCATION, &location)
        }
        HookAnswer::Throttled { retry_after } => {
            let answer = answer::text(StatusCode::TOO_MANY_REQUESTS, "");
            match retry_after {
                // rounded up, so that no client comes back too soon
                Some(after) => with(answer, RETRY_AFTER, &(after.as_secs_f64().ceil() as u64).to_string()),
                None => answer,
            }
        }
    }
}

/// `POST /ntfy/{topic}`
pub(super) fn respond_topic(world: &World, request: &Request, name: &str) -> Answer {
    if request.method() != Method::POST && request.method() != Method::PUT {
        return answer::not_allowed();
    }
    let answer = match &world.plan.ntfy_token {
        Some(token) if bearer(request) != Some(token) => {
            json_of(StatusCode::FORBIDDEN, &json!({"code": 40301, "http": 403, "error": "forbidden"}))
        }
        _ => json_of(StatusCode::OK, &json!({"id": "message", "event": "message", "topic": name})),
    };
    world.hooks.keep(&topic(name), request, answer.status());
    answer
}
