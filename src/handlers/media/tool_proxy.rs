//! `ToolProxy`: the proxy of one run of a tool, where `media.use_proxies` asks for one.
//!
//! In: the site that the tool will ask, and how the run ended. Out: the address of a proxy, as tools take it, until
//! the run has ended; and for the proxy's owner, how it did. It must not know the tools.

use std::time::Instant;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::unless_stopped;
use crate::handlers::Context;
use crate::stealth::{Proxy, ProxyAsk, ProxyLease, ProxyOutcome, ProxyProtocol, ProxyReport};
use queue::TaskError;

pub struct ToolProxy {
    lease: ProxyLease,
    host: String,
    /// Address with its password.
    address: String,
    leased: Instant,
}

/// Waits for a proxy; None where tools get none. Errors: the task waits when no proxy comes free.
pub async fn lease(ctx: &Context, site: &Url) -> Result<Option<ToolProxy>, TaskError> {
    let Some(proxies) = &ctx.services.media.tool_proxies else { return Ok(None) };
    let host = site.host_str().unwrap_or_default().to_owned();
    let ask = ProxyAsk { host: host.clone(), ..ProxyAsk::default() };
    let lease = unless_stopped(ctx, proxies.lease(ask)).await??;
    let address = address(&lease.proxy);
    Ok(Some(ToolProxy { lease, host, address, leased: Instant::now() }))
}

impl ToolProxy {
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Tells the proxy's owner of the run. `error`: the first one of the tool, without which the site answered.
    pub fn report(self, ctx: &Context, error: Option<String>) {
        let Some(proxies) = &ctx.services.media.tool_proxies else { return };
        let outcome = match error {
            None => ProxyOutcome::Answered { host: self.host },
            // what the tools' libraries say of a proxy that refuses them or cannot be reached
            Some(error) if error.to_ascii_lowercase().contains("proxy") => ProxyOutcome::Failed {
                host: self.host,
                reason: "a tool could not reach its site through it".to_owned(),
                at_once: false,
            },
            Some(_) => ProxyOutcome::Neutral,
        };
        let report = ProxyReport { outcome, sent: self.leased, is_best_effort: false };
        proxies.report(self.lease.proxy.id, report);
    }
}

/// `http://user:password@host:port`. A SOCKS proxy resolves names itself.
fn address(proxy: &Proxy) -> String {
    let address = proxy.address();
    let (scheme, place) = address.split_once("://").unwrap_or(("http", &address));
    let scheme = if proxy.protocol == ProxyProtocol::Socks5 { "socks5h" } else { scheme };
    let encoded =
        |text: &Option<String>| utf8_percent_encode(text.as_deref().unwrap_or_default(), NON_ALPHANUMERIC).to_string();
    match &proxy.username {
        Some(_) => format!("{scheme}://{}:{}@{place}", encoded(&proxy.username), encoded(&proxy.password)),
        None => format!("{scheme}://{place}"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain(ProxyProtocol::Http, None, "http://p.test:8")]
    #[case::inside_tls(ProxyProtocol::Https, Some(("u", "a:b@/%")), "https://u:a%3Ab%40%2F%25@p.test:8")]
    #[case::resolving_names(ProxyProtocol::Socks5, Some(("u", "")), "socks5h://u:@p.test:8")]
    fn a_tool_gets_the_address_with_the_login_in_it(
        #[case] protocol: ProxyProtocol,
        #[case] login: Option<(&str, &str)>,
        #[case] expected: &str,
    ) {
        let (username, password) = login.map(|(name, secret)| (name.to_owned(), secret.to_owned())).unzip();
        let proxy = Proxy { id: 1, protocol, host: "p.test".to_owned(), port: 8, username, password };
        assert_eq!(address(&proxy), expected);
    }
}
