//! `Page`: a part of a list. An answer says where the next part is: in its `next_cursor`, and in the header
//! `Link`.

use axum::Json;
use axum::http::{HeaderValue, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use url::form_urlencoded;

use contract::cursor::Cursor;
use contract::limit::Limit;
use contract::position::Position;

pub struct Page<T> {
    pub items: Vec<T>,
    /// Cursor of the next page; None on the last.
    pub next_cursor: Option<Cursor>,
}

impl<T> Page<T> {
    /// `rows` are up to [`Limit::with_next`]; `id` orders them.
    pub fn of(mut rows: Vec<T>, limit: Limit, id: impl Fn(&T) -> i64) -> Self {
        let next_cursor = limit.next(&mut rows, |last| Cursor(id(last)));
        Page { items: rows, next_cursor }
    }

    pub fn json<B>(self, body: impl FnOnce(Vec<T>, Option<Cursor>) -> B) -> PageJson<B> {
        PageJson { body: body(self.items, self.next_cursor), next: self.next_cursor }
    }
}

/// The JSON of an answer that holds a page.
pub struct PageJson<T, C = Cursor> {
    pub body: T,
    /// The cursor of the next page.
    pub next: Option<C>,
}

impl<T> PageJson<T, String> {
    /// `body` holds the text of where the `next` page begins.
    pub fn of<C: Serialize>(next: Option<C>, body: impl FnOnce(Option<String>) -> T) -> Self {
        let next = next.map(|next| Position(next).text());
        PageJson { body: body(next.clone()), next }
    }
}

/// Start of the next page, as an extension of the response.
#[derive(Clone)]
pub struct NextPage(String);

impl NextPage {
    /// Value of `Link`: `target`, the request's own, with the cursor of the next page.
    pub fn link(self, target: &Uri) -> Option<HeaderValue> {
        let pairs = form_urlencoded::parse(target.query().unwrap_or_default().as_bytes());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs.filter(|(name, _)| name != "cursor"));
        query.append_pair("cursor", &self.0);
        HeaderValue::try_from(format!("<{}?{}>; rel=\"next\"", target.path(), query.finish())).ok()
    }
}

impl<T: Serialize, C: Into<String>> IntoResponse for PageJson<T, C> {
    fn into_response(self) -> Response {
        let mut response = Json(self.body).into_response();
        if let Some(next) = self.next {
            response.extensions_mut().insert(NextPage(next.into()));
        }
        response
    }
}
