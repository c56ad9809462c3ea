//! `Remote`: the API of the server at `--url`. One connection per request.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::uri::Authority;
use http::{Request, Response, Uri};
use hyper::client::conn::http1;
use hyper_rustls::HttpsConnector;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower::{ServiceExt, service_fn};
use url::Url;

use super::CliError;
use foundation::authorities;
use settings::Secret;

/// Maximum time for TCP and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub struct Remote {
    /// Scheme, host and port of the server.
    origin: Uri,
    /// Path of the API, without a slash at its end.
    base: String,
    /// TLS settings for `https`.
    tls: Arc<ClientConfig>,
    token: Secret,
}

impl Remote {
    /// `url`: the address of the API, such as `https://crawler.example`, with or without a path.
    pub fn new(url: &str, token: Secret) -> Result<Remote, CliError> {
        let wrong =
            || CliError::usage(format!("--url: expected an address such as https://crawler.example, got '{url}'"));
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let (Some(host), Some(port)) = (parsed.host_str(), parsed.port_or_known_default()) else { return Err(wrong()) };
        if !parsed.username().is_empty() || parsed.password().is_some() || parsed.query().is_some() {
            return Err(wrong());
        }
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong());
        }
        let origin: Uri = format!("{}://{host}:{port}", parsed.scheme()).parse().map_err(|_| wrong())?;
        Ok(Remote { origin, base: parsed.path().trim_end_matches('/').to_owned(), tls: tls()?, token })
    }

    pub fn authority(&self) -> &str {
        self.origin.authority().map_or("", Authority::as_str)
    }

    pub fn token(&self) -> Option<&str> {
        Some(self.token.reveal()).filter(|token| !token.is_empty())
    }

    /// Sends a request; the error describes the fault of the connection.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, String> {
        let target = format!("{}{}", self.base, request.uri());
        *request.uri_mut() = target.parse().map_err(|_| format!("{target} is not a path"))?;
        let connector = HttpsConnector::from((service_fn(dial), Arc::clone(&self.tls)));
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connector.oneshot(self.origin.clone())).await;
        let stream = connected.map_err(|_| format!("no connection within {CONNECT_TIMEOUT:?}"))?.map_err(text)?;
        let (mut client, connection) = http1::handshake(stream).await.map_err(text)?;
        tokio::spawn(connection);
        Ok(client.send_request(request).await.map_err(text)?.map(Body::new))
    }
}

impl Display for Remote {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.origin.scheme_str().unwrap_or_default(), self.authority(), self.base)
    }
}

/// Connects without TLS, which the connector adds if the scheme requires it.
async fn dial(origin: Uri) -> io::Result<TokioIo<TcpStream>> {
    let host = origin.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, origin.port_u16().unwrap_or_default())).await?;
    Ok(TokioIo::new(stream))
}

fn tls() -> Result<Arc<ClientConfig>, CliError> {
    authorities::client(None).map(Arc::new).map_err(CliError::bad_config)
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
