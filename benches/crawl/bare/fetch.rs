//! Menus through a proxy: a connection a store, a request a page.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use tokio::net::TcpStream;

use super::wire;
use crate::peer::Job;

type Sender = http1::SendRequest<Empty<Bytes>>;

/// The answers of a whole menu, gzipped as they came.
pub async fn menu(job: &Job, store: &str, proxy: usize) -> Result<Vec<Bytes>> {
    let (host, port) = &job.proxies[proxy];
    let stream = TcpStream::connect((host.as_str(), *port)).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);

    let mut pages = vec![page(job, &mut sender, store, 0).await?];
    let count = wire::page_count(&inflate(&pages[0])?)?;
    for number in 1..count {
        pages.push(page(job, &mut sender, store, number).await?);
    }
    Ok(pages)
}

pub fn inflate(gzip: &[u8]) -> Result<Vec<u8>> {
    // a gzip file ends with the size of its content
    let size = gzip.last_chunk::<4>().context("no gzip")?;
    let mut text = vec![0; u32::from_le_bytes(*size) as usize];
    let written = libdeflater::Decompressor::new().gzip_decompress(gzip, &mut text)?;
    text.truncate(written);
    Ok(text)
}

async fn page(job: &Job, sender: &mut Sender, store: &str, number: usize) -> Result<Bytes> {
    sender.ready().await?;
    let response = sender.send_request(request(job, store, number)?).await?;
    ensure!(response.status().is_success(), "status {}", response.status());
    Ok(response.into_body().collect().await?.to_bytes())
}

fn request(job: &Job, store: &str, page: usize) -> Result<Request<Empty<Bytes>>> {
    let filter = json!({ "dispensaryId": store, "pricingType": "rec", "Status": "All" });
    let variables = json!({ "productsFilter": filter, "page": page, "perPage": job.per_page }).to_string();
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": job.query_hash } }).to_string();
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    // in absolute form, for the proxy
    let uri = format!(
        "{}/api-3/graphql?operationName=FilteredProducts&variables={}&extensions={}",
        job.base_url,
        encoded(&variables),
        encoded(&extensions)
    );
    let host = job.base_url.trim_start_matches("http://");
    let request = Request::get(uri).header("host", host).header("accept-encoding", "gzip");
    let request = request.header("content-type", "application/json").header("apollo-require-preflight", "true");
    Ok(request.body(Empty::new())?)
}
