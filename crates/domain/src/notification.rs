//! Notifications: events, where they go, and when a failed try is repeated. Pure.
//!
//! In: the address of an endpoint as a person writes it. Out: a [`Target`], or what is wrong with it. It must not know
//! who sends, nor what.

pub mod recipient;

use std::time::Duration;

use thiserror::Error;
use url::{Host, Url};

use super::http::host_name::HostName;
use crate::credential::CredentialKind;
use crate::vocabulary::{Word, vocabulary};

pub type EndpointId = i64;
pub type NotificationId = i64;

vocabulary! {
    pub enum EndpointKind {
        /// A message to a topic of ntfy.
        Ntfy,
        /// A POST as the Standard Webhooks describe it.
        Webhook,
        Email,
    }
}

vocabulary! {
    pub enum NotificationState {
        Pending,
        Delivered,
        Failed,
    }
}

vocabulary! {
    /// An event that a rule may ask for.
    pub enum NotifiedEvent {
        #[serde(rename = "job.completed")]
        #[strum(serialize = "job.completed")]
        JobCompleted,
        #[serde(rename = "job.failed")]
        #[strum(serialize = "job.failed")]
        JobFailed,
        /// A task of the crawl failed, and does not run again by itself.
        #[serde(rename = "crawl.failed")]
        #[strum(serialize = "crawl.failed")]
        CrawlFailed,
        /// A store has not been crawled whole for three intervals of its schedule.
        #[serde(rename = "store.blind")]
        #[strum(serialize = "store.blind")]
        StoreBlind,
        /// Another finding about a store's data.
        #[serde(rename = "quality.found")]
        #[strum(serialize = "quality.found")]
        QualityFound,
        /// No proxy has been usable for a minute.
        #[serde(rename = "proxies.unusable")]
        #[strum(serialize = "proxies.unusable")]
        ProxiesUnusable,
        /// A pause has lasted for four hours.
        #[serde(rename = "pause.long")]
        #[strum(serialize = "pause.long")]
        PauseLong,
    }
}

impl NotifiedEvent {
    /// Events of jobs have a notification each, others are gathered.
    pub fn is_of_jobs(self) -> bool {
        matches!(self, NotifiedEvent::JobCompleted | NotifiedEvent::JobFailed)
    }
}

vocabulary! {
    /// How often a rule's events of the crawl become a notification.
    #[derive(Default)]
    pub enum Digest {
        /// A notification for each event, at once.
        #[default]
        None,
        /// One notification an hour at most.
        Hourly,
        /// One notification a day at most.
        Daily,
    }
}

/// The event of a notification that a person asked for to try an endpoint. It has one try.
pub const TEST: &str = "test";

/// The platform of the credentials of endpoints: no other secret goes to an address that a person writes.
pub const PLATFORM: &str = "notifications";

const MINUTE: u64 = 60;
const HOUR: u64 = 3600;
/// Times between the tries of one notification, in seconds; the first is at once.
const DELAYS: [u64; 9] = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
/// Maximum time that a receiver may ask to wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * HOUR);
/// One that is older has its last try: notifications of an endpoint that is away do not pile up.
pub const MAX_AGE: Duration = Duration::from_secs(96 * HOUR);

impl EndpointKind {
    pub fn credential_kind(self) -> CredentialKind {
        match self {
            EndpointKind::Email => CredentialKind::Password,
            EndpointKind::Ntfy | EndpointKind::Webhook => CredentialKind::Token,
        }
    }

    /// Whether an endpoint of this kind may have a credential of this platform and kind.
    pub fn takes(self, platform: &str, kind: &Word<CredentialKind>) -> bool {
        platform == PLATFORM && *kind == Word::Known(self.credential_kind())
    }
}

/// The time until the next try, after `attempts` of them. None: that was the last one.
pub fn delay_after(attempts: u32, retry_after: Option<Duration>) -> Option<Duration> {
    let last = usize::try_from(attempts.checked_sub(1)?).ok()?;
    let delay = Duration::from_secs(*DELAYS.get(last)?);
    Some(delay.max(retry_after.unwrap_or_default().min(MAX_RETRY_AFTER)))
}

/// Maximum bytes of a target.
pub const MAX_TARGET: usize = 2048;
/// Maximum bytes of an address of mail, and number of recipients.
const MAX_MAIL_ADDRESS: usize = 254;
const MAX_RECIPIENTS: usize = 20;
const SMTPS_PORT: u16 = 465;
const SUBMISSION_PORT: u16 = 587;

/// Destination of an endpoint's notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Webhook(Url),
    Ntfy(Url),
    Mail(MailTarget),
}

/// `smtps://host:465/?from=a@example.org&to=b@example.org`: a mail server, a sender and recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailTarget {
    pub server: Host,
    pub port: u16,
    /// Whether TLS begins with the first byte; otherwise the connection is changed to TLS before anything is said.
    pub begins_with_tls: bool,
    pub from: String,
    pub to: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadTarget {
    #[error("must be an address such as {example}")]
    NoAddress { example: &'static str },
    #[error("is longer than {MAX_TARGET} bytes")]
    TooLong,
    #[error("has a user name or a password in it: keep them as a credential")]
    LogIn,
    #[error("names no topic: it is the path of the address, as in https://ntfy.sh/mytopic")]
    NoTopic,
    #[error("has the parameter '{0}': a mail server takes from and to")]
    Parameter(String),
    #[error(
        "must have one `from` and 1 to {MAX_RECIPIENTS} `to`, as in smtps://mail.example.org/?from=a@example.org&to=b@example.org"
    )]
    Envelope,
    #[error("'{0}' is not a mail address")]
    MailAddress(String),
}

const WEB_EXAMPLE: &str = "https://example.org/hooks/drover";
const NTFY_EXAMPLE: &str = "https://ntfy.sh/mytopic";
const MAIL_EXAMPLE: &str = "smtps://mail.example.org/?from=a@example.org&to=b@example.org";

impl Target {
    pub fn parse(kind: EndpointKind, text: &str) -> Result<Target, BadTarget> {
        let (schemes, example): ([&str; 2], _) = match kind {
            EndpointKind::Webhook => (["http", "https"], WEB_EXAMPLE),
            EndpointKind::Ntfy => (["http", "https"], NTFY_EXAMPLE),
            EndpointKind::Email => (["smtp", "smtps"], MAIL_EXAMPLE),
        };
        if text.len() > MAX_TARGET {
            return Err(BadTarget::TooLong);
        }
        let url = Url::parse(text).ok().filter(|url| schemes.contains(&url.scheme()) && url.has_host());
        let url = url.ok_or(BadTarget::NoAddress { example })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadTarget::LogIn);
        }
        match kind {
            EndpointKind::Webhook => Ok(Target::Webhook(url)),
            EndpointKind::Ntfy if url.path().trim_matches('/').is_empty() => Err(BadTarget::NoTopic),
            EndpointKind::Ntfy => Ok(Target::Ntfy(url)),
            EndpointKind::Email => MailTarget::of(&url).map(Target::Mail),
        }
    }

    /// Whether its host is known to be in a private network, without asking for its addresses.
    pub fn is_private(&self) -> bool {
        let host = match self {
            Target::Webhook(url) | Target::Ntfy(url) => url.host_str().unwrap_or_default().to_owned(),
            Target::Mail(mail) => mail.server.to_string(),
        };
        !crate::http::public_host::is_public(&host)
    }
}

impl MailTarget {
    fn of(url: &Url) -> Result<MailTarget, BadTarget> {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (name, value) in url.query_pairs() {
            match name.as_ref() {
                "from" => from.push(mail_address(&value)?),
                "to" => to.push(mail_address(&value)?),
                _ => return Err(BadTarget::Parameter(name.into_owned())),
            }
        }
        let name = url.host_str().filter(|host| host.parse::<HostName>().is_ok());
        let server = name.and_then(|host| Host::parse(host).ok());
        let server = server.ok_or(BadTarget::NoAddress { example: MAIL_EXAMPLE })?;
        let begins_with_tls = url.scheme() == "smtps";
        let port = url.port().unwrap_or(if begins_with_tls { SMTPS_PORT } else { SUBMISSION_PORT });
        match (from.len(), to.len()) {
            (1, 1..=MAX_RECIPIENTS) => Ok(MailTarget { server, port, begins_with_tls, from: from.remove(0), to }),
            _ => Err(BadTarget::Envelope),
        }
    }
}

fn mail_address(text: &str) -> Result<String, BadTarget> {
    is_mail_address(text).then(|| text.to_owned()).ok_or_else(|| BadTarget::MailAddress(text.to_owned()))
}

/// Whether mail servers take it, which read one without quotes.
pub fn is_mail_address(text: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty() && part.chars().all(|char| char.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(char))
    };
    text.len() <= MAX_MAIL_ADDRESS
        && text.rsplit_once('@').is_some_and(|(name, domain)| is_plain(name) && is_plain(domain))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_webhook(EndpointKind::Webhook, "https://example.org/hook?a=b", Ok(()))]
    #[case::a_file(EndpointKind::Webhook, "file:///etc/passwd", Err("such as"))]
    #[case::no_address(EndpointKind::Webhook, "example.org/hook", Err("such as"))]
    #[case::the_longest(EndpointKind::Webhook, &format!("https://a.example/{}", "p".repeat(2030)), Ok(()))]
    #[case::too_long(EndpointKind::Webhook, &format!("https://a.example/{}", "p".repeat(2031)), Err("2048 bytes"))]
    #[case::far_too_long(EndpointKind::Webhook, &format!("https://a.example/{}", "p".repeat(4000)), Err("2048 bytes"))]
    #[case::a_password(EndpointKind::Webhook, "https://a:b@example.org/", Err("credential"))]
    #[case::a_topic(EndpointKind::Ntfy, "https://ntfy.sh/mine", Ok(()))]
    #[case::no_topic(EndpointKind::Ntfy, "https://ntfy.sh/", Err("no topic"))]
    #[case::mail(EndpointKind::Email, "smtps://mail.example.org/?from=a@b.example&to=c@d.example", Ok(()))]
    #[case::a_mail_server_without_a_name(
        EndpointKind::Email,
        "smtps://mail_.example.org/?from=a@b.example&to=c@d.example",
        Err("such as")
    )]
    #[case::mail_to_no_one(EndpointKind::Email, "smtps://mail.example.org/?from=a@b.example", Err("1 to 20 `to`"))]
    #[case::mail_by_the_web(
        EndpointKind::Email,
        "https://mail.example.org/?from=a@b.example&to=c@d.example",
        Err("smtps://")
    )]
    #[case::a_line_break(
        EndpointKind::Email,
        "smtp://m.example/?from=a@b.example%0d%0aX:&to=c@d.example",
        Err("is not a mail address")
    )]
    #[case::another_parameter(
        EndpointKind::Email,
        "smtp://m.example/?from=a@b.example&to=c@d.example&bcc=e@f.example",
        Err("'bcc'")
    )]
    fn a_target_is_checked(#[case] kind: EndpointKind, #[case] text: &str, #[case] expected: Result<(), &str>) {
        match (Target::parse(kind, text), expected) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (parsed, _) => panic!("{text}: {parsed:?}"),
        }
    }

    #[test]
    fn a_mail_server_has_its_usual_port() {
        let port = |text: &str| match Target::parse(EndpointKind::Email, text) {
            Ok(Target::Mail(mail)) => (mail.port, mail.begins_with_tls),
            other => panic!("{other:?}"),
        };
        assert_eq!(port("smtps://m.example/?from=a@b.example&to=c@d.example"), (465, true));
        assert_eq!(port("smtp://m.example/?from=a@b.example&to=c@d.example"), (587, false));
        assert_eq!(port("smtp://m.example:2525/?from=a@b.example&to=c@d.example"), (2525, false));
    }

    #[rstest]
    #[case::public("https://example.org/", false)]
    #[case::loopback("http://127.0.0.1:80/", true)]
    #[case::a_name_of_this_machine("http://localhost/", true)]
    #[case::version_6("http://[::1]/", true)]
    #[case::metadata("http://169.254.169.254/", true)]
    fn a_private_target_is_known_by_its_host(#[case] text: &str, #[case] is_private: bool) {
        assert_eq!(Target::parse(EndpointKind::Webhook, text).unwrap().is_private(), is_private);
    }

    #[test]
    fn events_of_the_crawl_are_gathered_and_those_of_jobs_are_not() {
        let events = [NotifiedEvent::JobCompleted, NotifiedEvent::JobFailed, NotifiedEvent::CrawlFailed];
        assert_eq!(events.map(NotifiedEvent::is_of_jobs), [true, true, false]);
        assert!(!NotifiedEvent::StoreBlind.is_of_jobs() && !NotifiedEvent::QualityFound.is_of_jobs());
    }

    #[test]
    fn ten_tries_take_three_days_and_the_receiver_may_ask_for_more_time() {
        let delays: Vec<u64> = (1..).map_while(|tries| delay_after(tries, None)).map(|delay| delay.as_secs()).collect();
        assert_eq!(delays, [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
        assert!(Duration::from_secs(delays.iter().sum()) < MAX_AGE);
        assert_eq!(delay_after(1, Some(Duration::from_secs(60))), Some(Duration::from_secs(60)));
        assert_eq!(delay_after(2, Some(Duration::from_secs(60))), Some(Duration::from_secs(300)));
        assert_eq!(delay_after(1, Some(Duration::MAX)), Some(MAX_RETRY_AFTER));
        assert_eq!(delay_after(0, None), None);
    }
}
