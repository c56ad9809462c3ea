//! Rules of the section `[storage]`: which keys a driver needs, and that credentials travel sealed.

use std::path::Path;

use url::Url;

use super::validate::{Rules, is_base_path, keeps_a_key_secret};
use super::{Secret, Storage};

const DRIVERS: [&str; 4] = [Storage::LOCAL, "s3", "gcs", "azure"];
/// Maximum length of the name of a bucket.
const MAX_BUCKET: usize = 63;

impl Rules<'_> {
    pub(super) fn storage(&mut self, storage: &Storage) {
        self.one_of("storage.driver", &storage.driver, &DRIVERS);
        if storage.is_local() || !DRIVERS.contains(&storage.driver.as_str()) {
            return;
        }
        let problem = format!(
            "'{}' is not in this program: build it with the feature cloud (docs/deploy.md, Object storage)",
            storage.driver
        );
        self.require(cfg!(feature = "cloud"), "storage.driver", &problem);
        self.bucket(storage);
        self.endpoint(storage);
        match storage.driver.as_str() {
            "s3" => self.s3(storage),
            "gcs" => self.gcs(storage),
            _ => self.azure(storage),
        }
    }

    fn bucket(&mut self, storage: &Storage) {
        let problem = "must name the bucket (with azure, the container): at most 63 letters, digits and - _ .";
        self.require(is_bucket(&storage.bucket), "storage.bucket", problem);
        let problem = "must be words of letters, digits and - _ . with single slashes between them";
        let is_prefix = storage.prefix.is_empty() || is_base_path(&format!("/{}", storage.prefix));
        self.require(is_prefix, "storage.prefix", problem);
    }

    /// Requests are signed, but payloads are readable on the way.
    fn endpoint(&mut self, storage: &Storage) {
        let url = (!storage.endpoint.is_empty()).then(|| Url::parse(&storage.endpoint));
        let is_sealed = match &url {
            None => true,
            Some(Ok(url)) => keeps_a_key_secret(url) && (url.scheme() == "https" || storage.allow_http),
            Some(Err(_)) => false,
        };
        let problem = "must be an https address; an http one takes a loopback address and storage.allow_http = true";
        self.require(is_sealed, "storage.endpoint", problem);
        let is_loopback =
            url.is_some_and(|url| url.is_ok_and(|url| url.scheme() == "http" && keeps_a_key_secret(&url)));
        let problem = "is for tests: it needs a storage.endpoint of the form http://127.0.0.1:9000";
        self.require(!storage.allow_http || is_loopback, "storage.allow_http", problem);
    }

    fn s3(&mut self, storage: &Storage) {
        let problem = "must name the bucket's region, such as us-east-1; variable AWS_REGION";
        self.require(!storage.region.is_empty(), "storage.region", problem);
        let problem = "is needed: name a file in storage.access_key_id_file, or set AWS_ACCESS_KEY_ID";
        let id = (&storage.access_key_id, storage.access_key_id_file.as_deref());
        self.credential("storage.access_key_id", id, problem);
        let problem = "is needed: name a file in storage.secret_access_key_file, or set AWS_SECRET_ACCESS_KEY";
        let key = (&storage.secret_access_key, storage.secret_access_key_file.as_deref());
        self.credential("storage.secret_access_key", key, problem);
    }

    fn gcs(&mut self, storage: &Storage) {
        let problem = "is needed: the JSON file of a service account's key, or variable GOOGLE_APPLICATION_CREDENTIALS";
        self.require(storage.service_account_file.is_some(), "storage.service_account_file", problem);
        self.require(storage.endpoint.is_empty(), "storage.endpoint", "is for s3 and azure");
    }

    fn azure(&mut self, storage: &Storage) {
        let problem = "must name the storage account; variable AZURE_STORAGE_ACCOUNT_NAME";
        self.require(!storage.account.is_empty(), "storage.account", problem);
        let problem = "is needed: name a file in storage.account_key_file, or set AZURE_STORAGE_ACCOUNT_KEY";
        let key = (&storage.account_key, storage.account_key_file.as_deref());
        self.credential("storage.account_key", key, problem);
    }

    fn credential(&mut self, key: &str, (value, file): (&Secret, Option<&Path>), problem: &str) {
        self.require(!value.is_empty() || file.is_some(), key, problem);
        let is_printable = value.reveal().bytes().all(|byte| byte.is_ascii_graphic());
        self.require(is_printable, key, "contains a blank or a character that a header cannot have");
    }
}

fn is_bucket(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=MAX_BUCKET).contains(&name.len()) && name.bytes().all(is_plain)
}
