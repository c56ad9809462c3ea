//! The proxy list as operators have it: a CSV with a header, or plain lines and URLs. Pure: text in, entries or faults out.
//!
//! All faults come at once, each with its line, and any fault refuses the whole list. No message repeats a user or password.

use std::collections::HashMap;
use std::fmt;

use super::ProxyProtocol;
use super::entry::{Draft, plain, url};

/// More lines than any list of one operator has.
const MAX_LINES: usize = 100_000;

/// The columns a CSV may have; only host and port must be there.
const COLUMNS: [&str; 7] = ["host", "port", "protocol", "username", "password", "state_code", "timezone"];

/// A proxy as imported. Its `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyEntry {
    pub protocol: ProxyProtocol,
    /// In lower case; IPv6 without brackets.
    pub host: String,
    pub port: u16,
    pub username: Option<String>,
    pub password: Option<String>,
    pub state_code: Option<String>,
    pub timezone: Option<String>,
}

impl fmt::Debug for ProxyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyEntry({}://{}:{})", self.protocol.name(), self.host, self.port)
    }
}

/// Something at a line of the file: `proxies.csv line 14: port 99999 is out of range (1–65535)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub file: String,
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} line {}: {}", self.file, self.line, self.what)
    }
}

/// A list without faults. `duplicates` were left out: the first of them counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyList {
    pub entries: Vec<ProxyEntry>,
    pub duplicates: Vec<Remark>,
}

/// Reads the list; `file` is only for the messages.
///
/// Empty lines and lines that begin with `#` are skipped. A first line that names the columns makes it a CSV.
pub fn parse(file: &str, text: &str) -> Result<ProxyList, Vec<Remark>> {
    let remark = |line: usize, what: String| Remark { file: file.to_owned(), line, what };
    let mut lines = meaningful_lines(text).peekable();
    let header = match lines.peek().and_then(|(n, line)| Some((*n, header_of(line)?))) {
        None => None,
        Some((n, header)) => {
            lines.next();
            Some(header.map_err(|what| vec![remark(n, what)])?)
        }
    };

    let mut found = Vec::new();
    let mut faults = Vec::new();
    for (n, line) in lines {
        if n > MAX_LINES {
            faults.push(remark(n, format!("a list may have {MAX_LINES} lines at most")));
            break;
        }
        match entry(line, header.as_deref()) {
            Ok(entry) => found.push((n, entry)),
            Err(whats) => faults.extend(whats.into_iter().map(|what| remark(n, what))),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(without_duplicates(found, remark))
}

/// Lines with their numbers from 1.
fn meaningful_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text
        .split('\n')
        .enumerate()
        .map(|(n, line)| (n + 1, line.strip_suffix('\r').unwrap_or(line).trim_matches(' ')));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The columns, when the line is a header at all.
fn header_of(line: &str) -> Option<Result<Vec<String>, String>> {
    let names: Vec<String> = cells(line).ok()?.iter().map(|cell| cell.to_ascii_lowercase()).collect();
    if !names.iter().any(|name| name == "host") {
        return None;
    }
    let unknown = names.iter().find(|name| !COLUMNS.contains(&name.as_str()));
    let twice = names.iter().enumerate().find(|(n, name)| names[..*n].contains(name)).map(|(_, name)| name);
    Some(match (unknown, twice) {
        (Some(name), _) => Err(format!("unknown column '{name}': the columns are {}", COLUMNS.join(", "))),
        (_, Some(name)) => Err(format!("column '{name}' is there twice")),
        _ if !names.iter().any(|name| name == "port") => Err("the column 'port' is missing".to_owned()),
        _ => Ok(names),
    })
}

fn entry(line: &str, header: Option<&[String]>) -> Result<ProxyEntry, Vec<String>> {
    if line.chars().any(|c| c.is_control()) {
        return Err(vec!["control characters (CR, LF, NUL and the like) are refused".to_owned()]);
    }
    let draft = match header {
        Some(header) => row(line, header),
        None if line.contains("://") => url(line),
        None => plain(line),
    };
    draft.map_err(|what| vec![what])?.check()
}

fn row(line: &str, header: &[String]) -> Result<Draft, String> {
    let cells = cells(line)?;
    if cells.len() != header.len() {
        return Err(format!("{} cells where the header has {}", cells.len(), header.len()));
    }
    let mut draft = Draft::default();
    for (name, cell) in header.iter().zip(cells) {
        draft.set(name, cell);
    }
    Ok(draft)
}

/// The cells of one CSV line; quoted ones may hold commas and doubled quotes.
fn cells(line: &str) -> Result<Vec<String>, String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().ok_or("no cell")?;
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' if quoted || cell.trim().is_empty() => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    if quoted {
        return Err("a quote is not closed".to_owned());
    }
    Ok(cells.iter().map(|cell| cell.trim().to_owned()).collect())
}

fn without_duplicates(found: Vec<(usize, ProxyEntry)>, remark: impl Fn(usize, String) -> Remark) -> ProxyList {
    let mut list = ProxyList::default();
    let mut first_lines = HashMap::new();
    for (n, entry) in found {
        let key = (entry.protocol, entry.host.clone(), entry.port, entry.username.clone());
        match first_lines.get(&key) {
            Some(first) => list.duplicates.push(remark(n, format!("the same proxy as line {first}, left out"))),
            None => {
                first_lines.insert(key, n);
                list.entries.push(entry);
            }
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn one(text: &str) -> ProxyEntry {
        let mut list = parse("p.csv", text).unwrap();
        assert_eq!(list.entries.len(), 1, "{text}");
        list.entries.remove(0)
    }

    fn faults(text: &str) -> Vec<String> {
        parse("proxies.csv", text).unwrap_err().iter().map(Remark::to_string).collect()
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
    #[case::bad_host("ho st:1", "'ho st' is no host name or address")]
    #[case::no_host(":1", "the host is missing")]
    #[case::the_other_order(
        "u:12345:10.0.0.1:8080",
        "it looks like user:password:host:port; write host:port:user:password"
    )]
    #[case::a_port_like_a_password("h:123456789", "the port is out of range (1–65535)")]
    #[case::socks_without_a_password("socks5://u@h:1", "a SOCKS5 proxy with a username needs a password too")]
    #[case::https("https://h:1", "protocol 'https' cannot be used yet: the protocols are http, socks5")]
    #[case::unknown_protocol("ftp://h:1", "unknown protocol 'ftp': the protocols are http, socks5")]
    #[case::encoded_newline("http://u:a%0Ab@h:1", "the password holds a control character")]
    #[case::encoded_nul("http://u%00:a@h:1", "the username holds a control character")]
    #[case::bad_escape("http://u:a%zz@h:1", "a % in user or password is not followed by two hex digits")]
    #[case::carriage_return("h:1:u:a\rb", "control characters (CR, LF, NUL and the like) are refused")]
    #[case::nul("h:1:u:a\0b", "control characters (CR, LF, NUL and the like) are refused")]
    #[case::password_alone("host,port,password\nh,1,x", "a password without a username")]
    #[case::colon_in_user("http://a%3Ab:c@h:1", "the username holds a colon, which proxies cannot be told")]
    #[case::unknown_column(
        "host,port,pasword\nh,1,x",
        "unknown column 'pasword': the columns are host, port, protocol, username, password, state_code, timezone"
    )]
    #[case::column_twice("host,port,host\nh,1,x", "column 'host' is there twice")]
    #[case::no_port_column("host,username\nh,u", "the column 'port' is missing")]
    #[case::short_row("host,port\nh", "1 cells where the header has 2")]
    #[case::open_quote("host,port,username\nh,1,\"u", "a quote is not closed")]
    #[case::state("host,port,state_code\nh,1,Arizona", "state 'ARIZONA' is not two letters")]
    #[case::timezone(
        "host,port,timezone\nh,1,Phoenix time",
        "timezone 'Phoenix time' is not written like America/Phoenix"
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
        assert_eq!(list.duplicates[0].to_string(), "p line 2: the same proxy as line 1, left out");
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
                        proptest::prop_assert!(!fault.to_string().contains("s3cretword"), "{}", fault);
                    }
                }
            }
        }
    }
}
