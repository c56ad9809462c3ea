//! `Remote`: the API of a server, as `--url` names it. One connection a request.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Url;

use super::CliError;
use foundation::authorities;
use settings::Secret;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub struct Remote {
    host: String,
    port: u16,
    /// Where the API begins: without a slash at the end.
    base: String,
    /// None for `http`.
    tls: Option<TlsConnector>,
    token: Secret,
}

impl Remote {
    /// `url` is where the API is served: `https://crawler.example` or with a path.
    pub fn new(url: &str, token: Secret) -> Result<Remote, CliError> {
        let wrong =
            || CliError::usage(format!("--url: expected an address such as https://crawler.example, got '{url}'"));
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let (Some(host), Some(port)) = (parsed.host_str(), parsed.port_or_known_default()) else { return Err(wrong()) };
        if !parsed.username().is_empty() || parsed.password().is_some() || parsed.query().is_some() {
            return Err(wrong());
        }
        let tls = match parsed.scheme() {
            "http" => None,
            "https" => Some(tls()?),
            _ => return Err(wrong()),
        };
        Ok(Remote { host: host.to_owned(), port, base: parsed.path().trim_end_matches('/').to_owned(), tls, token })
    }

    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub fn token(&self) -> Option<&str> {
        Some(self.token.reveal()).filter(|token| !token.is_empty())
    }

    /// The error says what is wrong with the connection.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, String> {
        let target = format!("{}{}", self.base, request.uri());
        *request.uri_mut() = target.parse().map_err(|_| format!("{target} is no path"))?;
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect((bare, self.port))).await;
        let stream = connected.map_err(|_| format!("no connection within {CONNECT_TIMEOUT:?}"))?.map_err(text)?;
        let Some(tls) = &self.tls else { return exchange(stream, request).await };
        let name = ServerName::try_from(bare.to_owned()).map_err(text)?;
        exchange(tls.connect(name, stream).await.map_err(text)?, request).await
    }
}

impl Display for Remote {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}{}", self.host, self.port, self.base)
    }
}

async fn exchange<S>(stream: S, request: Request<Body>) -> Result<Response<Body>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut client, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(text)?;
    tokio::spawn(connection);
    Ok(client.send_request(request).await.map_err(text)?.map(Body::new))
}

fn tls() -> Result<TlsConnector, CliError> {
    let roots = authorities::with_file(None).map_err(CliError::bad_config)?;
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn text(error: impl Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("http://127.0.0.1:8080", Some("http://127.0.0.1:8080"))]
    #[case::with_path("http://crawler.example/drover/", Some("http://crawler.example:80/drover"))]
    #[case::no_scheme("127.0.0.1:8080", None)]
    #[case::another_scheme("ftp://crawler.example", None)]
    #[case::a_secret_in_it("http://token@crawler.example", None)]
    fn an_address_is_a_scheme_a_host_and_a_path(#[case] url: &str, #[case] shown: Option<&str>) {
        assert_eq!(Remote::new(url, Secret::default()).ok().map(|remote| remote.to_string()).as_deref(), shown);
    }
}
