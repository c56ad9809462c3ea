//! A plain HTTP/1.1 client for tests: direct, or through one of the simulator's proxies.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use sim::{Operation, ProxyAddress, ProxyProtocol, Settings, Simulator, history};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, pki_types};

pub const PATIENCE: Duration = Duration::from_secs(60);

/// A small world without blocked proxies.
pub fn small() -> Settings {
    Settings { stores: 4, products_per_store: 130..=210, blocked_proxies: 0, proxies: 3, ..Settings::default() }
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub fn error_code(&self) -> Option<String> {
        Some(self.json()["errors"][0]["extensions"]["code"].as_str()?.to_owned())
    }

    pub fn products(&self) -> Vec<Value> {
        self.json()["data"]["filteredProducts"]["products"].as_array().cloned().unwrap_or_default()
    }

    pub fn total(&self) -> usize {
        self.json()["data"]["filteredProducts"]["queryInfo"]["totalCount"].as_u64().unwrap() as usize
    }
}

/// How a request reaches the origin.
pub enum Way {
    Direct,
    /// Absolute form for HTTP proxies, a SOCKS5 connection for the others.
    Through(ProxyAddress),
    /// A CONNECT tunnel.
    Tunnel(ProxyAddress),
}

pub fn menu_variables(store: &str, page: usize, per_page: usize) -> Value {
    json!({
        "includeEnterpriseSpecials": false,
        "includeCannabinoids": true,
        "productsFilter": { "dispensaryId": store, "pricingType": "rec", "Status": "All", "types": [] },
        "page": page,
        "perPage": per_page,
    })
}

pub async fn menu_page(sim: &Simulator, store: &str, page: usize, per_page: usize) -> Answer {
    graphql(sim, &Way::Direct, Operation::FilteredProducts, menu_variables(store, page, per_page)).await.unwrap()
}

pub async fn graphql(sim: &Simulator, way: &Way, operation: Operation, variables: Value) -> Result<Answer> {
    send(sim, way, get(sim, "/api-3/graphql", operation, variables, history(operation)[0])).await
}

/// A complete GET as a browser's `fetch` would make it.
pub fn get(sim: &Simulator, path: &str, operation: Operation, variables: Value, hash: &str) -> Request<Full<Bytes>> {
    let encode = |value: Value| utf8_percent_encode(&value.to_string(), NON_ALPHANUMERIC).to_string();
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    let query =
        format!("operationName={}&variables={}&extensions={}", operation.name(), encode(variables), encode(extensions));
    Request::get(format!("{}{path}?{query}", sim.base_url()))
        .header("host", sim.base_url().trim_start_matches("http://"))
        .header("accept", "*/*")
        .header("content-type", "application/json")
        .header("apollo-require-preflight", "true")
        .header("accept-encoding", "gzip, deflate, br, zstd")
        .body(Full::default())
        .unwrap()
}

pub async fn send(sim: &Simulator, way: &Way, request: Request<Full<Bytes>>) -> Result<Answer> {
    tokio::time::timeout(PATIENCE, exchange(sim, way, request)).await?
}

async fn exchange(sim: &Simulator, way: &Way, mut request: Request<Full<Bytes>>) -> Result<Answer> {
    let origin = sim.base_url().trim_start_matches("http://");
    let stream = match way {
        Way::Direct => TcpStream::connect(origin).await?,
        Way::Through(proxy) if proxy.protocol == ProxyProtocol::Socks5 => socks(proxy, origin).await?,
        Way::Through(proxy) => TcpStream::connect((proxy.host.as_str(), proxy.port)).await?,
        Way::Tunnel(proxy) => tunnel(proxy, origin).await?,
    };
    match way {
        Way::Through(proxy) if proxy.protocol == ProxyProtocol::Http => authorise(proxy, request.headers_mut()),
        _ => *request.uri_mut() = request.uri().path_and_query().context("path")?.as_str().parse()?,
    }
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let (parts, body) = response.into_parts();
    let body = decoded(&parts.headers, body.collect().await?.to_bytes()).await?;
    Ok(Answer { status: parts.status, headers: parts.headers, body })
}

fn basic(proxy: &ProxyAddress) -> Option<String> {
    let pair = format!("{}:{}", proxy.username.as_deref()?, proxy.password.as_deref()?);
    Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

fn authorise(proxy: &ProxyAddress, headers: &mut HeaderMap) {
    if let Some(basic) = basic(proxy) {
        headers.insert("proxy-authorization", basic.parse().unwrap());
    }
}

async fn tunnel(proxy: &ProxyAddress, origin: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect((proxy.host.as_str(), proxy.port)).await?;
    let authorization = basic(proxy).map(|basic| format!("Proxy-Authorization: {basic}\r\n")).unwrap_or_default();
    stream.write_all(format!("CONNECT {origin} HTTP/1.1\r\nHost: {origin}\r\n{authorization}\r\n").as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8(head)?;
    anyhow::ensure!(head.starts_with("HTTP/1.1 200"), "tunnel refused: {head}");
    Ok(stream)
}

async fn socks(proxy: &ProxyAddress, origin: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect((proxy.host.as_str(), proxy.port)).await?;
    stream.write_all(&[5, 2, 0, 2]).await?;
    let mut choice = [0; 2];
    stream.read_exact(&mut choice).await?;
    if choice == [5, 2] {
        let mut login = vec![1];
        for text in [&proxy.username, &proxy.password].into_iter().flatten() {
            login.push(text.len() as u8);
            login.extend_from_slice(text.as_bytes());
        }
        stream.write_all(&login).await?;
        stream.read_exact(&mut choice).await?;
        anyhow::ensure!(choice[1] == 0, "socks login refused");
    }
    // a name, to be resolved by the proxy
    let (name, port) = (b"localhost", origin.rsplit(':').next().context("port")?.parse::<u16>()?);
    let wish = [&[5, 1, 0, 3, name.len() as u8][..], name, &port.to_be_bytes()].concat();
    stream.write_all(&wish).await?;
    let mut reply = [0; 10];
    stream.read_exact(&mut reply).await?;
    anyhow::ensure!(reply[1] == 0, "socks reply {}", reply[1]);
    Ok(stream)
}

async fn decoded(headers: &HeaderMap, body: Bytes) -> Result<Bytes> {
    let mut out = Vec::new();
    match headers.get("content-encoding").map(|coding| coding.to_str()).transpose()? {
        None => return Ok(body),
        Some("gzip") => GzipDecoder::new(&body[..]).read_to_end(&mut out).await?,
        Some("br") => BrotliDecoder::new(&body[..]).read_to_end(&mut out).await?,
        Some("deflate") => ZlibDecoder::new(&body[..]).read_to_end(&mut out).await?,
        Some("zstd") => ZstdDecoder::new(&body[..]).read_to_end(&mut out).await?,
        Some(other) => bail!("coding {other}"),
    };
    Ok(out.into())
}

/// A server as `localhost`, and whom its clients must trust.
pub fn certified() -> (Arc<ServerConfig>, pki_types::CertificateDer<'static>) {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = pki_types::PrivateKeyDer::Pkcs8(issued.signing_key.serialize_der().into());
    let certificate = issued.cert.der().clone();
    let server = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate.clone()], key);
    (Arc::new(server.unwrap()), certificate)
}

/// A connection that speaks HTTP/2 by ALPN.
pub async fn http2(sim: &Simulator, trusted: pki_types::CertificateDer<'static>) -> Result<SendRequest<Full<Bytes>>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted)?;
    let mut client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(sim.base_url().trim_start_matches("https://")).await?;
    let name = pki_types::ServerName::try_from("localhost")?;
    let stream = TlsConnector::from(Arc::new(client)).connect(name, stream).await?;
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}
