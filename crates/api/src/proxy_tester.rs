//! `ProxyTester`: sends one real request to the platform through a proxy. The API knows no platforms: the program
//! gives it the tester.

use futures_util::future::BoxFuture;

use contract::proxies::ProxyTest;
use domain::proxy::ProxyRow;

/// Sends the requests of tests. It has a deadline of its own.
pub trait ProxyTester: Send + Sync {
    /// How the proxy of this row did. An error: nothing could be sent.
    fn test(&self, row: ProxyRow) -> BoxFuture<'_, Result<ProxyTest, String>>;
}
