//! The object store by the configuration: which service, which bucket, and the credentials.
//!
//! In: the section `[storage]`, which the configuration has checked. Out: a client that has asked nothing
//! yet, and the secrets that no message may hold.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};

use super::connector::Connector;
use crate::place::PlaceError;
use settings::{Secret, Storage};

/// Maximum number of retries of one call; beyond, the caller tries again later.
const MAX_RETRIES: usize = 2;
const MAX_RETRY_TIME: Duration = Duration::from_secs(10);
/// Maximum size of a key file.
const MAX_KEY_FILE: u64 = 64 << 10;

pub struct Client {
    pub store: Arc<dyn ObjectStore>,
    /// `s3://bucket/prefix`.
    pub name: String,
    pub secrets: Vec<String>,
}

pub fn client(settings: &Storage) -> Result<Client, PlaceError> {
    let connector = Connector::new(settings)?;
    match settings.driver.as_str() {
        "s3" => s3(settings, connector),
        "gcs" => gcs(settings, connector),
        "azure" => azure(settings, connector),
        _ => Err(PlaceError::NoDriver),
    }
}

fn s3(settings: &Storage, connector: Connector) -> Result<Client, PlaceError> {
    let id = key("storage.access_key_id_file", &settings.access_key_id, settings.access_key_id_file.as_deref())?;
    let file = settings.secret_access_key_file.as_deref();
    let secret = key("storage.secret_access_key_file", &settings.secret_access_key, file)?;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&settings.bucket)
        .with_region(&settings.region)
        .with_access_key_id(&id)
        .with_secret_access_key(&secret)
        .with_allow_http(settings.allow_http)
        // not every compatible service has it
        .with_disable_bulk_delete(true)
        .with_retry(retries())
        .with_http_connector(connector);
    if !settings.endpoint.is_empty() {
        builder = builder.with_endpoint(&settings.endpoint);
    }
    let store = builder.build().map_err(|error| refused(&error, &[&id, &secret]))?;
    Ok(Client { store: Arc::new(store), name: name("s3", settings), secrets: vec![id, secret] })
}

fn gcs(settings: &Storage, connector: Connector) -> Result<Client, PlaceError> {
    let account = key("storage.service_account_file", &Secret::default(), settings.service_account_file.as_deref())?;
    let builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&settings.bucket)
        .with_service_account_key(&account)
        .with_retry(retries())
        .with_http_connector(connector);
    let store = builder.build().map_err(|error| refused(&error, &[&account]))?;
    Ok(Client { store: Arc::new(store), name: name("gs", settings), secrets: vec![account] })
}

fn azure(settings: &Storage, connector: Connector) -> Result<Client, PlaceError> {
    let secret = key("storage.account_key_file", &settings.account_key, settings.account_key_file.as_deref())?;
    let mut builder = MicrosoftAzureBuilder::new()
        .with_container_name(&settings.bucket)
        .with_account(&settings.account)
        .with_access_key(&secret)
        .with_allow_http(settings.allow_http)
        .with_retry(retries())
        .with_http_connector(connector);
    if !settings.endpoint.is_empty() {
        builder = builder.with_endpoint(settings.endpoint.clone());
    }
    let store = builder.build().map_err(|error| refused(&error, &[&secret]))?;
    Ok(Client { store: Arc::new(store), name: name("az", settings), secrets: vec![secret] })
}

/// The content of the file without the line's end, or the value.
fn key(setting: &'static str, value: &Secret, file: Option<&Path>) -> Result<String, PlaceError> {
    let Some(path) = file else { return Ok(value.reveal().to_owned()) };
    let failed = |reason: String| PlaceError::File { key: setting, file: path.to_owned(), reason };
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_KEY_FILE).read_to_string(&mut text));
    read.map_err(|error| failed(error.to_string()))?;
    match text.trim() {
        "" => Err(failed("it is empty".to_owned())),
        text => Ok(text.to_owned()),
    }
}

fn retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: MAX_RETRIES, retry_timeout: MAX_RETRY_TIME }
}

fn name(scheme: &str, settings: &Storage) -> String {
    match settings.prefix.as_str() {
        "" => format!("{scheme}://{}", settings.bucket),
        prefix => format!("{scheme}://{}/{prefix}", settings.bucket),
    }
}

fn refused(error: &object_store::Error, secrets: &[&String]) -> PlaceError {
    PlaceError::Refused(without_secrets(error.to_string(), secrets.iter().copied()))
}

/// `text` with stars where it had a secret.
pub fn without_secrets<'a>(text: String, secrets: impl IntoIterator<Item = &'a String>) -> String {
    secrets
        .into_iter()
        .filter(|secret| !secret.is_empty())
        .fold(text, |text, secret| text.replace(secret.as_str(), "***"))
}
