//! In place of `media` in a build without the feature `media`: no job runs, and there is nothing to sweep.

use std::sync::Arc;

use crate::stealth::ProxySource;
use public_http::Http;
use queue::TaskError;
use settings::Config;
use storage::Payloads;

pub struct MediaServices;

impl MediaServices {
    pub fn new(_: &Config, _: &Payloads, _: Http, _: Http, _: Arc<dyn ProxySource>) -> Self {
        MediaServices
    }
}

pub async fn sweep_work(_: &Config) -> Result<u64, TaskError> {
    Ok(0)
}
