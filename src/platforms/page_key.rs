//! `PageKey` and `Keys`: a platform's key that the public pages of its menus show, and the keys that a task may ask with.
//!
//! In: queries and pages. Out: requests with a key, and the key of a page. Nothing here shows a key, and it must not know where
//! keys are kept.

use futures_util::future::BoxFuture;

use super::Query;
use crate::stealth::{FetchError, Request, Session};
use settings::Secret;

/// A key that a platform changes without notice, and that the pages of its menus show to all visitors.
pub trait PageKey: Send + Sync {
    /// Whether the query is answered for a key alone.
    fn needs_key(&self, query: &Query) -> bool;

    /// Puts a query and the key into a request.
    fn request_with_key(&self, query: &Query, key: &Secret) -> Request;

    /// The page of the menu that is asked for; none where the query is about no menu.
    fn key_page(&self, query: &Query) -> Option<Request>;

    /// The key that a page shows.
    fn read_key(&self, page: &[u8]) -> Option<Secret>;
}

/// The keys that a task may ask with, one after the other.
pub trait Keys: Send {
    /// None while no key is known.
    fn current(&self) -> Option<Secret>;

    /// The platform accepted the present key.
    fn worked(&mut self);

    /// Takes a key that was not refused in this task in the place of the present one, which was; it may be read from `page`
    /// through the session. An error where there is none.
    fn renew<'a>(
        &'a mut self,
        session: &'a mut Session,
        page: Option<Request>,
    ) -> BoxFuture<'a, Result<(), FetchError>>;
}
