//! Which hosts a store's row may name without the operator's allow-list: public names and addresses.
//!
//! In: a host. Out: yes or no. Names are not resolved here, since it is the proxy that resolves them: a
//! public name may still lead into the proxy's private network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Names that lead into a private network.
const INTERNAL: [&str; 6] = ["localhost", "local", "internal", "localdomain", "lan", "home.arpa"];

/// Azure's platform services, metadata among them, under an address that looks public.
const CLOUD_PLATFORM: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

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

/// Whether an address is one of the internet, and not of a private network or of a cloud's platform.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_ipv4(address),
        IpAddr::V6(address) => is_public_ipv6(address),
    }
}

fn is_public_name(name: &str) -> bool {
    name.contains('.') && !INTERNAL.iter().any(|suffix| name.ends_with(&format!(".{suffix}")))
}

fn is_public_ipv4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_benchmark = first == 198 && (second == 18 || second == 19);
    let is_protocol_assignment = [first, second, third] == [192, 0, 0];
    let is_special =
        address.is_private() || address.is_loopback() || address.is_link_local() || address.is_documentation();
    let is_reserved = is_shared || is_benchmark || is_protocol_assignment || first == 0 || first >= 224;
    !(is_special || is_reserved || address == CLOUD_PLATFORM)
}

fn is_public_ipv6(address: Ipv6Addr) -> bool {
    if let IpAddr::V4(mapped) = IpAddr::V6(address).to_canonical() {
        return is_public_ipv4(mapped);
    }
    let [first, second, ..] = address.segments();
    // 6to4 and Teredo hold an IPv4 address, which may be private
    let is_tunnel = first == 0x2002 || (first == 0x2001 && second == 0);
    // 2000::/3 is the allocated range
    first & 0xe000 == 0x2000 && !is_tunnel
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
    #[case::protocol_assignments("192.0.0.192", false)]
    #[case::platform_services_of_a_cloud("168.63.129.16", false)]
    #[case::private_by_6to4("[2002:a00:1::]", false)]
    #[case::teredo("[2001:0:a00:1::]", false)]
    #[case::multicast("224.0.0.1", false)]
    #[case::loopback_of_ipv6("[::1]", false)]
    #[case::mapped("[::ffff:10.0.0.1]", false)]
    #[case::unique_local("[fd00::1]", false)]
    #[case::a_bare_name("intranet", false)]
    #[case::no_host("a b", false)]
    fn only_public_hosts_come_with_a_store(#[case] host: &str, #[case] public: bool) {
        assert_eq!(is_public(host), public);
    }

    #[rstest]
    #[case::shared("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0")]
    #[case::benchmarks("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0")]
    #[case::multicast_and_reserved("224.0.0.0", "255.255.255.255", "223.255.255.255", "1.0.0.0")]
    fn a_reserved_range_ends_where_public_addresses_begin(
        #[case] first: &str,
        #[case] last: &str,
        #[case] before: &str,
        #[case] after: &str,
    ) {
        assert_eq!([first, last, before, after].map(is_public), [false, false, true, true]);
    }

    #[rstest]
    #[case::as_shared_ones("99.64.0.1")]
    #[case::as_benchmarks("197.18.0.1")]
    #[case::as_teredo("[2600:0:a00:1::]")]
    #[case::as_tunnels("[2001:4860::1]")]
    fn a_public_address_may_look_like_a_reserved_one(#[case] host: &str) {
        assert!(is_public(host));
    }
}
