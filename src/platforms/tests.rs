//! Answers and stores for the tests of all platforms.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::stealth::Response;
use domain::store::{Platform, Store};
use foundation::memory::MemoryPermit;

/// An answer without headers, as it came.
pub fn answer(host: &str, status: u16, body: &str) -> Response {
    let body = Bytes::copy_from_slice(body.as_bytes());
    Response {
        host: host.to_owned(),
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        raw: body.clone(),
        body,
        memory: MemoryPermit::default(),
    }
}

/// A crawled store of Arizona, without addresses.
pub fn store(platform: Platform, platform_dispensary_id: &str) -> Store {
    Store {
        id: 1,
        name: "Copper Fern".to_owned(),
        platform,
        platform_dispensary_id: Some(platform_dispensary_id.to_owned()),
        slug: None,
        menu_url: None,
        api_host: None,
        api_path: None,
        state: Some("AZ".to_owned()),
        timezone: None,
        crawl_enabled: true,
    }
}
