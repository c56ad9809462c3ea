//! `Server`: connects to the database that a URL names, with TLS and session settings.
//!
//! `sslmode` follows libpq, but stricter: `prefer` (the default) and `require` encrypt, `verify-ca` and
//! `verify-full` also check the certificate and the host name. With `sslrootcert` every encrypting mode
//! checks them, against its authorities and the public ones. Unix sockets and loopback stay plain unless the
//! URL asks for TLS. No error contains the URL, because it may hold a password.

mod parameters;
mod tls;

use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::DbError;
use settings::DatabaseUrl;
use tls::TlsSettings;

pub(crate) use tls::remedy as tls_remedy;

/// The I/O half of a connection: the client works only while this is polled.
pub type Connection = tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Detects a silent network after about a minute; the kernel would take two hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;

/// Cheap to clone.
#[derive(Clone)]
pub struct Server {
    config: Arc<tokio_postgres::Config>,
    tls: MakeRustlsConnect,
    timeout: Duration,
    is_pooled: bool,
}

impl Server {
    /// Reads a libpq URL or key-value string. Connects nothing yet.
    pub fn parse(url: &str, connect_timeout: Duration) -> Result<Server, DbError> {
        let mut url = DatabaseUrl::parse(url).map_err(unreadable)?;
        let tls_settings = TlsSettings::take_from(&mut url);
        parameters::take_harmless(&mut url);
        if let Some(remedy) = parameters::remedy(&url) {
            return Err(unreadable(remedy));
        }
        let mut config: tokio_postgres::Config = url.to_string().parse().map_err(|error| unreadable(cause(&error)))?;
        if let Some(password) = url.password() {
            config.password(password);
        }
        if tls_settings.mode.is_none() && is_local(&config) {
            config.ssl_mode(SslMode::Disable);
        }
        config
            .connect_timeout(share(connect_timeout, &config))
            .tcp_user_timeout(KEEPALIVE_IDLE + KEEPALIVE_INTERVAL * KEEPALIVE_RETRIES)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES);
        let tls = MakeRustlsConnect::new(tls_settings.client_config()?);
        Ok(Server { config: Arc::new(config), tls, timeout: connect_timeout, is_pooled: false })
    }

    /// A pooler in transaction mode is between here and the server, so that no connection has a session of
    /// its own.
    pub fn behind_pooler(self, is_pooled: bool) -> Server {
        Server { is_pooled, ..self }
    }

    pub fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// Opens one connection outside any pool, within the connect deadline. `pg_stat_activity` shows
    /// `application_name`.
    pub async fn connect(
        &self,
        application_name: &str,
        statement_timeout: Duration,
    ) -> Result<(Client, Connection), DbError> {
        let limit = self.timeout;
        match tokio::time::timeout(limit, self.open(application_name, statement_timeout)).await {
            Ok(opened) => opened,
            Err(_) => Err(DbError::Unavailable(format!("the server did not answer within {limit:?}"))),
        }
    }

    async fn open(&self, application_name: &str, statement_timeout: Duration) -> Result<(Client, Connection), DbError> {
        let (client, mut connection) = self.config.connect(self.tls.clone()).await.map_err(DbError::from_connecting)?;
        let settings = self.session_settings(application_name, statement_timeout);
        tokio::select! {
            set = client.batch_execute(&settings) => set?,
            _ = &mut connection => return Err(DbError::Unavailable("the connection was closed".to_owned())),
        }
        Ok((client, connection))
    }

    /// The server's half of the deadlines, and [`FIXED_SETTINGS`]. Poolers keep the name and the time zone
    /// for each of their clients; any other setting would stay on a connection that they give to the next
    /// client.
    pub(crate) fn session_settings(&self, application_name: &str, statement_timeout: Duration) -> String {
        let name = format!("SET application_name = '{application_name}'");
        if self.is_pooled {
            return format!("{name}; SET timezone = 'UTC'");
        }
        let fixed = FIXED_SETTINGS.map(|(name, value)| format!("; SET {name} = '{value}'"));
        format!(
            "{name}; SET statement_timeout = {}; SET lock_timeout = {}; \
             SET default_transaction_isolation = 'read committed'{}",
            statement_timeout.as_millis(),
            lock_timeout(statement_timeout).as_millis(),
            fixed.concat()
        )
    }

    pub(crate) fn manager(&self, config: deadpool_postgres::ManagerConfig) -> deadpool_postgres::Manager {
        deadpool_postgres::Manager::from_config((*self.config).clone(), self.tls.clone(), config)
    }

    /// Asks the server to cancel the statement of that connection; best effort, within the connect deadline.
    pub(crate) async fn cancel(&self, token: CancelToken) {
        let _ = tokio::time::timeout(self.timeout, token.cancel_query(self.tls.clone())).await;
    }
}

/// Settings that statements rely on whatever the server's defaults are. A frozen process must not hold row
/// locks for longer than its successor waits. JIT is off: compiling takes longer than any statement here
/// runs.
pub(crate) const FIXED_SETTINGS: [(&str, &str); 3] =
    [("timezone", "UTC"), ("idle_in_transaction_session_timeout", "10s"), ("jit", "off")];

/// Shorter than the statement's deadline, so that a wait for another transaction's lock is not mistaken for a
/// slow statement.
pub(crate) fn lock_timeout(statement_timeout: Duration) -> Duration {
    statement_timeout * 9 / 10
}

/// The driver tries the hosts of a URL one after the other: one that does not answer leaves time for the
/// others.
fn share(connect_timeout: Duration, config: &tokio_postgres::Config) -> Duration {
    let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1);
    connect_timeout / u32::try_from(hosts).unwrap_or(u32::MAX)
}

/// Checks names and addresses: the driver connects to the address where there is one.
fn is_local(config: &tokio_postgres::Config) -> bool {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let is_named = !hosts.is_empty() || !addresses.is_empty();
    is_named && hosts.iter().all(is_local_host) && addresses.iter().all(IpAddr::is_loopback)
}

fn is_local_host(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
    }
}

fn unreadable(cause: impl Display) -> DbError {
    DbError::Other(format!("the database URL cannot be read: {cause}"))
}

/// The driver names the key that it rejects, and never a value.
fn cause(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(url: &str) -> Result<Server, DbError> {
        Server::parse(url, Duration::from_secs(1))
    }

    #[rstest]
    #[case::unix_socket("postgresql:///drover?host=/run/pg", SslMode::Disable)]
    #[case::loopback("postgresql://u:p@127.0.0.1/drover", SslMode::Disable)]
    #[case::localhost("host=localhost user=u", SslMode::Disable)]
    #[case::elsewhere("postgresql://u:p@db.example.com/drover", SslMode::Prefer)]
    #[case::elsewhere_without("postgresql://db.example.com/drover?sslmode=disable", SslMode::Disable)]
    #[case::elsewhere_with("postgresql://db.example.com/drover?sslmode=require", SslMode::Require)]
    #[case::loopback_with("postgresql://localhost/drover?sslmode=require&application_name=x", SslMode::Require)]
    #[case::verified("postgresql://db.example.com/drover?sslmode=verify-full", SslMode::Require)]
    #[case::key_values("host=db.example.com sslmode=verify-ca user=u", SslMode::Require)]
    #[case::one_of_two_is_elsewhere("postgresql://localhost,db.example.com/drover", SslMode::Prefer)]
    #[case::address_elsewhere("hostaddr=203.0.113.5 user=u", SslMode::Prefer)]
    #[case::address_elsewhere_of_a_local_name("host=localhost hostaddr=203.0.113.5 user=u", SslMode::Prefer)]
    #[case::loopback_address("hostaddr=127.0.0.1 user=u", SslMode::Disable)]
    #[case::nowhere("user=u", SslMode::Prefer)]
    fn what_is_not_on_this_machine_is_encrypted(#[case] url: &str, #[case] mode: SslMode) {
        assert_eq!(parse(url).unwrap().config.get_ssl_mode(), mode);
    }

    #[rstest]
    #[case::encoding("postgresql://u@localhost/d?client_encoding=UTF8")]
    #[case::gss("postgresql://u@localhost/d?gssencmode=prefer&krbsrvname=postgres")]
    #[case::tls("host=localhost sslsni=1 sslcompression=0 ssl_min_protocol_version=TLSv1.2")]
    #[case::keepalives("host=localhost keepalives_count=3 fallback_application_name=x")]
    fn what_libpq_takes_and_changes_nothing_is_taken(#[case] url: &str) {
        parse(url).unwrap();
    }

    #[rstest]
    #[case::pooler("postgresql://u:s3cret@localhost/d?pgbouncer=true", "database.pooler = true")]
    #[case::statements("postgresql://u:s3cret@localhost/d?statement_cache_size=0", "database.pooler = true")]
    #[case::schema("postgresql://u:s3cret@localhost/d?schema=shop", "search_path")]
    #[case::of_another_program("postgresql://u:s3cret@localhost/d?connection_limit=5", "leave it out")]
    #[case::gss("postgresql://u:s3cret@localhost/d?gssencmode=require", "gssencmode")]
    #[case::unknown("postgresql://u:s3cret@localhost/d?colour=red", "colour")]
    fn what_cannot_be_taken_has_its_remedy(#[case] url: &str, #[case] says: &str) {
        let refused = parse(url).err().unwrap().to_string();
        assert!(refused.contains(says) && !refused.contains("s3cret"), "{refused}");
    }

    #[test]
    fn hosts_share_the_time_to_connect() {
        let timeout = |url| *parse(url).unwrap().config.get_connect_timeout().unwrap();
        assert_eq!(timeout("postgresql://db-1.example.com/drover"), Duration::from_secs(1));
        assert_eq!(timeout("postgresql://db-1.example.com,db-2.example.com/drover"), Duration::from_millis(500));
    }

    #[rstest]
    #[case("postgresql://u:s3cret@db.example.com:nonsense/drover")]
    #[case("postgresql://u:s3cret@db.example.com/drover?sslmode=sometimes")]
    #[case("postgresql://u:s3cret@db.example.com/drover?nonsense=1")]
    #[case("password=s3cret nonsense=1")]
    #[case("password='s3cret")]
    #[case("s3cret")]
    fn an_unreadable_url_is_not_repeated(#[case] url: &str) {
        let error = parse(url).err().unwrap().to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }
}
