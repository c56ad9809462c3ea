//! Messages to a topic of ntfy.

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::{Handed, Notice, SendError, SendSecrets, judged, text};
use public_http::Http;

const TITLE: HeaderName = HeaderName::from_static("title");
const PRIORITY: HeaderName = HeaderName::from_static("priority");
const TAGS: HeaderName = HeaderName::from_static("tags");

pub async fn send(
    http: &Http,
    url: &Url,
    notice: &Notice,
    secrets: &SendSecrets,
    handed: &Handed,
) -> Result<u16, SendError> {
    let headers = headers(notice, secrets)?;
    judged(&http.post(url, &headers, Bytes::from(text::message(notice)), || handed.note()).await?)
}

fn headers(notice: &Notice, secrets: &SendSecrets) -> Result<HeaderMap, SendError> {
    let (priority, tags) = match notice.event.as_str() {
        "job.failed" => ("high", "warning"),
        "job.completed" => ("default", "white_check_mark"),
        _ => ("default", "wave"),
    };
    let title = HeaderValue::try_from(text::title(notice)).map_err(|_| SendError::NotSendable)?;
    let mut headers = HeaderMap::from_iter([
        (TITLE, title),
        (PRIORITY, HeaderValue::from_static(priority)),
        (TAGS, HeaderValue::from_static(tags)),
    ]);
    if let Some(token) = &secrets.current {
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| SendError::NotSendable)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}
