//! `Question`: the parameters in the address of a request.

use std::str::FromStr;

use http::Uri;
use url::form_urlencoded;

pub(crate) struct Question(Vec<(String, String)>);

impl Question {
    pub(crate) fn of(uri: &Uri) -> Question {
        Question(form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }
}
