//! `Server`: a database URL as a way to connect, TLS included; the only place that reads such a URL.
//!
//! `sslmode` means what libpq means by it: `prefer` (the default) and `require` encrypt, `verify-ca` and `verify-full` also
//! check who answers, against the public authorities and those of `sslrootcert`. Unix sockets and loopback stay plain
//! unless the URL says otherwise. No error that leaves here holds the URL, since it may hold a password.

mod tls;

use std::time::Duration;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::DbError;
use tls::TlsWishes;

/// The half of a connection that does its I/O: the other half works only while somebody polls this one.
pub type Connection = tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// A network that went silent is noticed after about a minute, not after the kernel's two hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;

#[derive(Clone)]
pub struct Server {
    config: tokio_postgres::Config,
    tls: MakeRustlsConnect,
    timeout: Duration,
}

impl Server {
    /// Reads a libpq URL or key-value string. Connects nothing yet.
    pub fn parse(url: &str, connect_timeout: Duration) -> Result<Server, DbError> {
        let (url, wishes) = TlsWishes::taken_from(url);
        let mut config: tokio_postgres::Config = url.parse().map_err(|error| unreadable(&error))?;
        if wishes.mode.is_none() && config.get_hosts().iter().all(is_local) {
            config.ssl_mode(SslMode::Disable);
        }
        config
            .connect_timeout(connect_timeout)
            .tcp_user_timeout(KEEPALIVE_IDLE + KEEPALIVE_INTERVAL * KEEPALIVE_RETRIES)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES);
        let tls = MakeRustlsConnect::new(wishes.client_config()?);
        Ok(Server { config, tls, timeout: connect_timeout })
    }

    /// One connection outside any pool, within the connect deadline.
    pub async fn connect(&self) -> Result<(Client, Connection), DbError> {
        match tokio::time::timeout(self.timeout, self.config.connect(self.tls.clone())).await {
            Ok(connected) => connected.map_err(DbError::from_connecting),
            Err(_) => Err(DbError::Unavailable(format!("no connection within {:?}", self.timeout))),
        }
    }

    pub(super) fn manager(&self, config: deadpool_postgres::ManagerConfig) -> deadpool_postgres::Manager {
        deadpool_postgres::Manager::from_config(self.config.clone(), self.tls.clone(), config)
    }

    /// Asks the server to give up what that connection is doing; best effort, within the connect deadline.
    pub(super) async fn cancel(&self, token: CancelToken) {
        let _ = tokio::time::timeout(self.timeout, token.cancel_query(self.tls.clone())).await;
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// The parser names the key that it rejects, never a value.
fn unreadable(error: &tokio_postgres::Error) -> DbError {
    let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    DbError::Other(format!("the database URL cannot be read: {cause}"))
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
    fn what_is_not_on_this_machine_is_encrypted(#[case] url: &str, #[case] mode: SslMode) {
        assert_eq!(parse(url).unwrap().config.get_ssl_mode(), mode);
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
