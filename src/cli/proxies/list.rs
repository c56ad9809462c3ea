//! The operators' proxy list: a CSV with a header, or plain lines and URLs. Text in; checked entries, or
//! every fault with its line, out.
//!
//! A faulty line is refused; the caller decides whether the others count. No message repeats a user or
//! password.

use std::collections::HashMap;

use crate::cli::list_file::{self, BadLine, Columns, Header, at};
use api::proxy_draft::ProxyDraft;
use domain::proxy::ProxyEntry;

const COLUMNS: Columns =
    Columns { known: &["host", "port", "protocol", "username", "password", "state_code", "timezone"], required: 2 };

/// Content of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyList<'a> {
    pub entries: Vec<ProxyEntry>,
    /// Entries left out: the first entry with an address and user counts.
    pub duplicates: Vec<String>,
    pub bad: Vec<BadLine<'a>>,
    /// The header of a CSV.
    pub header: Option<&'a str>,
}

/// Reads the list, or returns the faults of all of it; `file` is only for the messages. A first line that
/// names the column `host` makes it a CSV.
pub fn read<'a>(file: &str, text: &'a str) -> Result<ProxyList<'a>, String> {
    let mut lines = list_file::lines(text).skip_while(|(_, line)| list_file::is_comment(line)).peekable();
    if let Some((n, _)) = lines.peek().filter(|(_, line)| Header::names(line, "slug")) {
        return Err(at(file, *n, "this is a list of stores: import it with `drover stores import`".to_owned()));
    }
    let first = lines.next_if(|(_, line)| Header::names(line, "host"));
    let header = first.map(|(n, line)| Header::parse(line, &COLUMNS).map_err(|fault| at(file, n, fault)));
    let header = header.transpose()?;

    let mut entries = Vec::new();
    let is_comment = |line: &str| header.as_ref().map_or(list_file::is_comment(line), |header| header.is_comment(line));
    let rows = lines.filter(|(_, line)| !is_comment(line));
    let bad = list_file::read_lines(file, rows, |n, line| {
        entries.push((n, entry(line, header.as_ref())?));
        Ok(())
    })?;
    let (entries, duplicates) = without_duplicates(file, entries);
    Ok(ProxyList { entries, duplicates, bad, header: first.map(|(_, line)| line) })
}

/// Same as [`read`], but any fault refuses the whole list.
pub fn parse<'a>(file: &str, text: &'a str) -> Result<ProxyList<'a>, Vec<String>> {
    let list = read(file, text).map_err(|fault| vec![fault])?;
    if list.bad.is_empty() { Ok(list) } else { Err(list_file::faults(file, &list.bad)) }
}

fn entry(line: &str, header: Option<&Header>) -> Result<ProxyEntry, Vec<String>> {
    let draft = match header {
        Some(header) => header.row::<ProxyDraft>(line),
        None => ProxyDraft::from_text(line),
    };
    draft.map_err(|fault| vec![fault])?.check()
}

fn without_duplicates(file: &str, found: Vec<(usize, ProxyEntry)>) -> (Vec<ProxyEntry>, Vec<String>) {
    let (mut entries, mut duplicates) = (Vec::new(), Vec::new());
    let mut first_lines = HashMap::new();
    for (n, entry) in found {
        let key = (entry.protocol, entry.host.clone(), entry.port, entry.username.clone());
        match first_lines.get(&key) {
            Some(first) => duplicates.push(at(file, n, format!("the same proxy as line {first}, left out"))),
            None => {
                first_lines.insert(key, n);
                entries.push(entry);
            }
        }
    }
    (entries, duplicates)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use domain::proxy::ProxyProtocol;

    fn one(text: &str) -> ProxyEntry {
        let mut list = parse("p.csv", text).unwrap();
        assert_eq!(list.entries.len(), 1, "{text}");
        list.entries.remove(0)
    }

    fn faults(text: &str) -> Vec<String> {
        parse("proxies.csv", text).unwrap_err()
    }

    #[rstest]
    #[case::plain("Proxy.Example:8080", "http proxy.example 8080 - -")]
    #[case::plain_with_password("10.0.0.1:3128:bob:a:b%41", "http 10.0.0.1 3128 bob a:b%41")]
    #[case::plain_v6("[::1]:3128:bob:x", "http ::1 3128 bob x")]
    #[case::http_url("http://bob:p%40ss%3A@h:1", "http h 1 bob p@ss:")]
    #[case::socks_url("socks5://u:p@[2001:db8::1]:1080/", "socks5 2001:db8::1 1080 u p")]
    #[case::socks_with_remote_names("SOCKS5H://h:9", "socks5 h 9 - -")]
    #[case::byte_order_mark_and_crlf("\u{feff}# mine\r\n\r\nh:1\r\n", "http h 1 - -")]
    #[case::least_csv("host,port\nh,1", "http h 1 - -")]
    #[case::comments("# ours\n# and theirs\nh:1\n#h:2", "http h 1 - -")]
    #[case::csv_of_a_spreadsheet("sep=,\n\"host\",\"port\",,\n# a comment\nh,1,,\n,,,", "http h 1 - -")]
    #[case::csv_with_a_password_like_a_comment("password,username,host,port\n#x,u,h,1", "http h 1 u #x")]
    #[case::quoted_csv("Host,Port,Username,Password\nh,1,u,\"a,\"\"b\"\"\"", "http h 1 u a,\"b\"")]
    fn each_form_is_read(#[case] text: &str, #[case] expected: &str) {
        let e = one(text);
        let (user, password) = (e.username.unwrap_or("-".to_owned()), e.password.unwrap_or("-".to_owned()));
        assert_eq!(format!("{} {} {} {user} {password}", e.protocol.name(), e.host, e.port), expected);
    }

    #[test]
    fn a_full_row_keeps_every_column() {
        let entry =
            one("host,port,protocol,username,password,state_code,timezone\nh,1080,socks5,u,p,az,America/Phoenix");
        assert_eq!(entry.protocol, ProxyProtocol::Socks5);
        assert_eq!((entry.state_code.as_deref(), entry.timezone.as_deref()), (Some("AZ"), Some("America/Phoenix")));
    }

    #[rstest]
    #[case::port("h:99999", "port 99999 is out of range (1–65535)")]
    #[case::port_zero("h:0", "port 0 is out of range (1–65535)")]
    #[case::port_word("h:http", "the port is not a number")]
    #[case::no_port("justahost", "expected host:port, host:port:user:password or a URL")]
    #[case::three_parts("h:1:user", "expected host:port, host:port:user:password or a URL")]
    #[case::url_without_port("http://h", "the port is missing")]
    #[case::bad_host("ho st:1", "'ho st' is not a host name or address")]
    #[case::a_number_as_host("0:1", "'0' is not a host name or address")]
    #[case::a_number_as_host_of_a_url("http://u:p@0:1", "the host is not a host name or address")]
    #[case::a_long_number_as_host(&format!("{}:1", "0".repeat(250)), "the host is not a host name or address")]
    #[case::no_host(":1", "the host is missing")]
    #[case::the_other_order(
        "u:12345:10.0.0.1:8080",
        "it looks like user:password:host:port; write host:port:user:password"
    )]
    #[case::a_port_like_a_password("h:123456789", "the port is out of range (1–65535)")]
    #[case::socks_without_a_password("socks5://u@h:1", "a SOCKS5 proxy with a username needs a password too")]
    #[case::unknown_protocol("ftp://h:1", "unknown protocol 'ftp': the protocols are http, https, socks5")]
    #[case::encoded_newline("http://u:a%0Ab@h:1", "the password holds a control character")]
    #[case::encoded_nul("http://u%00:a@h:1", "the username holds a control character")]
    #[case::bad_escape("http://u:a%zz@h:1", "a % in user or password is not followed by two hex digits; write it %25")]
    #[case::url_port(
        "http://h:99999",
        "the port is not a number from 1 to 65535; in user and password, write / ? # as %2F %3F %23"
    )]
    #[case::hash_in_a_password(
        "http://u:p#x@h:1",
        "the port is not a number from 1 to 65535; in user and password, write / ? # as %2F %3F %23"
    )]
    #[case::hash_after_digits(
        "http://u:1#x@h:1",
        "a proxy's URL ends after its port; in user and password, write / ? # as %2F %3F %23"
    )]
    #[case::path(
        "http://h:1/menu",
        "a proxy's URL ends after its port; in user and password, write / ? # as %2F %3F %23"
    )]
    #[case::url_without_host("http://:1", "the host is missing")]
    #[case::bad_url_host("http://ho st:1", "the host is not a host name or address")]
    #[case::carriage_return("h:1:u:a\rb", "control characters (CR, LF, NUL and the like) are refused")]
    #[case::nul("h:1:u:a\0b", "control characters (CR, LF, NUL and the like) are refused")]
    #[case::password_alone("host,port,password\nh,1,x", "a password without a username")]
    #[case::colon_in_user("http://a%3Ab:c@h:1", "the username holds a colon, which no proxy accepts")]
    #[case::unknown_column(
        "host,port,pasword\nh,1,x",
        "unknown column 'pasword': the columns are host, port, protocol, username, password, state_code, timezone"
    )]
    #[case::column_twice("host,port,host\nh,1,x", "column 'host' appears twice")]
    #[case::no_port_column("host,username\nh,u", "the column 'port' is missing")]
    #[case::short_row("host,port\nh", "its number of cells is 1, but the header's is 2")]
    #[case::open_quote("host,port,username\nh,1,\"u", "a quote is not closed")]
    #[case::state("host,port,state_code\nh,1,Arizona", "state 'ARIZONA' is not two letters")]
    #[case::stores("name,slug\nLeaf,leaf", "this is a list of stores: import it with `drover stores import`")]
    #[case::timezone_that_is_not_there(
        "host,port,timezone\nh,1,Mars/Phobos",
        "timezone 'Mars/Phobos' is not a zone name such as America/Phoenix"
    )]
    #[case::timezone(
        "host,port,timezone\nh,1,Phoenix time",
        "timezone 'Phoenix time' is not a zone name such as America/Phoenix"
    )]
    fn each_fault_is_named(#[case] text: &str, #[case] what: &str) {
        let found = faults(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with(&format!(": {what}")), "{found:?}");
    }

    #[test]
    fn all_faults_come_at_once_with_their_lines() {
        let text = "host,port,state_code\n# ours\nok,1,AZ\n,70000,AZ\nh,1,XYZ\n";
        assert_eq!(
            faults(text),
            [
                "proxies.csv line 4: the host is missing",
                "proxies.csv line 4: port 70000 is out of range (1–65535)",
                "proxies.csv line 5: state 'XYZ' is not two letters",
            ]
        );
    }

    #[test]
    fn the_first_of_duplicates_counts() {
        let list = parse("p", "H:1:u:first\nh:1:u:second\nh:1:other:x\nsocks5://u:z@h:1").unwrap();
        assert_eq!(list.entries.len(), 3);
        assert_eq!(list.entries[0].password.as_deref(), Some("first"));
        assert_eq!(list.duplicates[0], "p line 2: the same proxy as line 1, left out");
    }

    proptest::proptest! {
        #[test]
        fn no_fault_repeats_a_secret(port in "[0-9]{5,9}", tail in "[^a-z]{0,6}") {
            for text in [
                format!("h:{port}{tail}:user:s3cretword"),
                format!("http://user:s3cretword@h:{port}{tail}"),
                format!("host,password,port\nh,s3cretword,{port}{tail}"),
            ] {
                if let Err(faults) = parse("p", &text) {
                    for fault in faults {
                        proptest::prop_assert!(!fault.contains("s3cretword"), "{}", fault);
                    }
                }
            }
        }
    }
}
