//! `ProxyState`: one proxy's address, and its fault now.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::refusal::Refusal;

/// Pages of a captive portal, and of another host than the requested one: media type and text.
const PORTAL: Page =
    ("text/html", "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please log in</body></html>");
const ANOTHER_HOST: Page = ("application/json", r#"{"status":"ok"}"#);

pub(super) type Page = (&'static str, &'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyProtocol {
    Http,
    /// HTTP inside TLS.
    Https,
    Socks5,
}

/// A proxy's address and its required credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress {
    pub protocol: ProxyProtocol,
    pub host: String,
    pub port: u16,
    pub username: Option<String>,
    pub password: Option<String>,
}

impl std::fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProxyAddress({:?} {}:{})", self.protocol, self.host, self.port)
    }
}

/// Deliberate fault of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyFault {
    #[default]
    None,
    /// The port is closed, and so are open connections.
    Refuse,
    /// Connections are accepted and never answered, until the fault ends.
    Hang,
    /// The origin refuses every request that comes through this proxy.
    Blocked(Refusal),
    /// 407, to valid credentials too; SOCKS: authentication fails.
    AuthRequired,
    /// 502; SOCKS: general failure.
    BadGateway,
    /// A captive portal: it accepts whatever is asked for and answers with a page of its own, in plain HTTP.
    Portal,
    /// The proxy connects to another host, which answers everything with JSON of its own, in plain HTTP.
    WrongTarget,
    /// Bytes of no protocol that a proxy speaks.
    Garbage,
    /// The proxy accepts the request, and breaks the connection at the first byte.
    Reset,
    /// A tunnel brings one byte after another, slowly.
    Slow,
    /// The proxy works, and whatever comes back through it comes this much later.
    Late(Duration),
}

impl ProxyFault {
    /// Every way in which a proxy may be dead without a part of the origin in it.
    pub const DEATHS: [ProxyFault; 9] = [
        ProxyFault::Refuse,
        ProxyFault::Hang,
        ProxyFault::BadGateway,
        ProxyFault::Portal,
        ProxyFault::WrongTarget,
        ProxyFault::AuthRequired,
        ProxyFault::Garbage,
        ProxyFault::Reset,
        ProxyFault::Slow,
    ];

    /// The page that replaces the requested host's answer.
    pub(super) fn page(self) -> Option<Page> {
        match self {
            ProxyFault::Portal => Some(PORTAL),
            ProxyFault::WrongTarget => Some(ANOTHER_HOST),
            _ => None,
        }
    }
}

/// One proxy: its kind, and its behaviour now.
pub(crate) struct ProxyState {
    pub(crate) address: ProxyAddress,
    pub(super) fault: watch::Sender<ProxyFault>,
    /// Refuse everything after this many requests, until the fault is reset.
    block: Mutex<Option<(u64, Refusal)>>,
    seen_by_origin: AtomicU64,
}

impl ProxyState {
    pub(crate) fn new(address: ProxyAddress, block: Option<(u64, Refusal)>) -> ProxyState {
        ProxyState {
            address,
            fault: watch::Sender::default(),
            block: Mutex::new(block),
            seen_by_origin: AtomicU64::new(0),
        }
    }

    pub(crate) fn set_fault(&self, fault: ProxyFault) {
        if fault == ProxyFault::None {
            *self.block.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.fault.send_replace(fault);
    }

    /// Counts a request that reached the origin through this proxy, and returns how it is refused, if it is.
    pub(crate) fn next_refusal(&self) -> Option<Refusal> {
        let seen = self.seen_by_origin.fetch_add(1, Ordering::Relaxed);
        if let ProxyFault::Blocked(refusal) = *self.fault.borrow() {
            return Some(refusal);
        }
        let block = *self.block.lock().unwrap_or_else(PoisonError::into_inner);
        block.filter(|(after, _)| seen >= *after).map(|(_, refusal)| refusal)
    }

    /// The fault to show now, once nothing hangs any more.
    pub(super) async fn unhung_fault(&self) -> ProxyFault {
        let mut fault = self.fault.subscribe();
        match fault.wait_for(|fault| *fault != ProxyFault::Hang).await {
            Ok(fault) => *fault,
            Err(_) => ProxyFault::Refuse,
        }
    }

    pub(super) async fn until_refusing(&self, refusing: bool) {
        let mut fault = self.fault.subscribe();
        let _ = fault.wait_for(|fault| (*fault == ProxyFault::Refuse) == refusing).await;
    }

    pub(super) fn accepts(&self, username: &str, password: &str) -> bool {
        let is = |wanted: &Option<String>, given: &str| wanted.as_deref() == Some(given);
        is(&self.address.username, username) && is(&self.address.password, password)
    }

    pub(super) fn wants_credentials(&self) -> bool {
        self.address.username.is_some()
    }
}
