//! Which hosts a store may bring with it: public ones. An address of a private network, of the proxy's own machine or of a cloud's
//! metadata service is never asked for by a store's row; the operator's allow-list may name it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Names that lead into a private network.
const INTERNAL: [&str; 6] = ["localhost", "local", "internal", "localdomain", "lan", "home.arpa"];

/// Whether `host` (with a port, or without) is a public name or address.
pub fn is_public(host: &str) -> bool {
    let Ok(url) = Url::parse(&format!("https://{host}")) else { return false };
    match url.host() {
        Some(Host::Domain(name)) => is_public_name(name.trim_end_matches('.')),
        Some(Host::Ipv4(address)) => is_public_ipv4(address),
        Some(Host::Ipv6(address)) => is_public_ipv6(address),
        None => false,
    }
}

fn is_public_name(name: &str) -> bool {
    name.contains('.') && !INTERNAL.iter().any(|suffix| name.ends_with(&format!(".{suffix}")))
}

fn is_public_ipv4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_benchmark = first == 198 && (second == 18 || second == 19);
    let is_special =
        address.is_private() || address.is_loopback() || address.is_link_local() || address.is_documentation();
    !(is_special || is_shared || is_benchmark || first == 0 || first >= 224)
}

fn is_public_ipv6(address: Ipv6Addr) -> bool {
    if let IpAddr::V4(mapped) = IpAddr::V6(address).to_canonical() {
        return is_public_ipv4(mapped);
    }
    // 2000::/3 is what is given out
    address.segments()[0] & 0xe000 == 0x2000
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_name("menu.example.com", true)]
    #[case::with_a_port("menu.example.com:8443", true)]
    #[case::a_public_address("93.184.215.14", true)]
    #[case::a_public_address_of_ipv6("[2606:2800:21f::1]:443", true)]
    #[case::metadata("169.254.169.254", false)]
    #[case::metadata_by_name("metadata.google.internal", false)]
    #[case::loopback("127.0.0.1:5432", false)]
    #[case::short_loopback("127.1", false)]
    #[case::loopback_as_a_number("2130706433", false)]
    #[case::localhost("localhost", false)]
    #[case::below_localhost("db.localhost.", false)]
    #[case::private("10.1.2.3", false)]
    #[case::shared("100.64.0.1", false)]
    #[case::nowhere("0.0.0.0", false)]
    #[case::multicast("224.0.0.1", false)]
    #[case::loopback_of_ipv6("[::1]", false)]
    #[case::mapped("[::ffff:10.0.0.1]", false)]
    #[case::unique_local("[fd00::1]", false)]
    #[case::a_bare_name("intranet", false)]
    #[case::no_host("a b", false)]
    fn only_public_hosts_come_with_a_store(#[case] host: &str, #[case] public: bool) {
        assert_eq!(is_public(host), public);
    }
}
