//! `ProxyDraft`: a proxy as an operator wrote it, by a line, a URL, a CSV row or the fields of a request.
//! Checked, it is a [`ProxyEntry`]. Pure.
//!
//! No message repeats a user or password, nor a line that may hold one.

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use url::{ParseError, Url};

use domain::http::host_name::HostName;
use domain::proxy::{ProxyEntry, ProxyProtocol};
use domain::store::state_code::two_letters;
use domain::{schedule, vocabulary};
use foundation::secrets;

const EXPECTED: &str = "expected host:port, host:port:user:password or a URL";

/// Maximum length of each that proxies and SOCKS5 take.
const MAX_LOGIN_BYTES: usize = 255;

/// The fields as written; empty = not given.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyDraft {
    pub protocol: String,
    pub host: String,
    pub port: String,
    pub username: String,
    pub password: String,
    pub state_code: String,
    pub timezone: String,
}

impl ProxyDraft {
    /// A line or a URL, as [`ProxyDraft::from_plain`] and [`ProxyDraft::from_url`] read them.
    pub fn from_text(line: &str) -> Result<ProxyDraft, String> {
        if line.contains("://") { ProxyDraft::from_url(line) } else { ProxyDraft::from_plain(line) }
    }

    /// `host:port` or `host:port:user:password`; the password may hold colons and is taken literally.
    pub fn from_plain(line: &str) -> Result<ProxyDraft, String> {
        let (host, rest) = split_host(line).ok_or(EXPECTED)?;
        let parts: Vec<&str> = rest.splitn(3, ':').collect();
        let (port, username, password) = match parts[..] {
            [port] => (port, "", ""),
            [_, address, port] if address.parse::<std::net::Ipv4Addr>().is_ok() && port.parse::<u16>().is_ok() => {
                return Err("it looks like user:password:host:port; write host:port:user:password".to_owned());
            }
            [port, username, password] => (port, username, password),
            _ => return Err(EXPECTED.to_owned()),
        };
        let [host, port, username, password] = [host, port, username, password].map(str::to_owned);
        Ok(ProxyDraft { host, port, username, password, ..ProxyDraft::default() })
    }

    /// `http://user:password@host:port`, `https://…`, `socks5://…`; user and password percent-encoded.
    pub fn from_url(line: &str) -> Result<ProxyDraft, String> {
        let (protocol, rest) = line.split_once("://").ok_or(EXPECTED)?;
        // a scheme without a default port: the parser drops a port that is the scheme's own
        let url = Url::parse(&format!("proxy://{rest}")).map_err(url_fault)?;
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(format!("a proxy's URL ends after its port; {ENCODE}"));
        }
        Ok(ProxyDraft {
            protocol: protocol.to_owned(),
            host: url.host_str().unwrap_or_default().to_owned(),
            port: url.port().map(|port| port.to_string()).unwrap_or_default(),
            username: decoded(url.username())?,
            password: decoded(url.password().unwrap_or_default())?,
            ..ProxyDraft::default()
        })
    }

    /// The entry, or everything that is wrong with it.
    pub fn check(self) -> Result<ProxyEntry, Vec<String>> {
        // beside a user, the text in the host's place may be a part of the password
        let host = host(&self.host, self.username.is_empty());
        let port = port(&self.port);
        let protocol = protocol(&self.protocol);
        let faults: Vec<String> = [
            host.as_ref().err().cloned(),
            port.as_ref().err().cloned(),
            protocol.as_ref().err().cloned(),
            check_login(&self.username, &self.password).err(),
            protocol.as_ref().ok().and_then(|protocol| self.lacks_a_password(*protocol)),
            check_state(&self.state_code).err(),
            check_timezone(&self.timezone).err(),
        ]
        .into_iter()
        .flatten()
        .collect();

        let (Ok(host), Ok(port), Ok(protocol), true) = (host, port, protocol, faults.is_empty()) else {
            return Err(faults);
        };
        Ok(ProxyEntry {
            protocol,
            host,
            port,
            username: given(self.username),
            password: given(self.password),
            state_code: given(self.state_code.to_ascii_uppercase()),
            timezone: given(self.timezone),
        })
    }

    fn lacks_a_password(&self, protocol: ProxyProtocol) -> Option<String> {
        let lacks = protocol == ProxyProtocol::Socks5 && !self.username.is_empty() && self.password.is_empty();
        lacks.then(|| "a SOCKS5 proxy with a username needs a password too".to_owned())
    }
}

/// Cuts a bad value, to enough of it to find it by.
fn begin(text: &str) -> &str {
    text.char_indices().nth(20).map_or(text, |(end, _)| &text[..end])
}

fn given(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// The host (IPv6 in brackets, which go) and the text after its colon.
fn split_host(address: &str) -> Option<(&str, &str)> {
    match address.strip_prefix('[') {
        Some(v6) => v6.split_once("]:"),
        None => address.split_once(':'),
    }
}

fn host(text: &str, is_shown: bool) -> Result<String, String> {
    if text.is_empty() {
        return Err("the host is missing".to_owned());
    }
    if let Ok(host) = text.parse::<HostName>() {
        return Ok(host.to_string());
    }
    // the text in the host's place may be half of a password
    match is_shown && text.len() <= 40 && !text.contains('@') {
        true => Err(format!("'{text}' is not a host name or address")),
        false => Err("the host is not a host name or address".to_owned()),
    }
}

fn port(text: &str) -> Result<u16, String> {
    if text.is_empty() {
        return Err("the port is missing".to_owned());
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("the port is not a number".to_owned());
    }
    match text.parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        // a longer number may be a password
        _ if text.len() > 5 => Err("the port is out of range (1–65535)".to_owned()),
        _ => Err(format!("port {text} is out of range (1–65535)")),
    }
}

fn protocol(text: &str) -> Result<ProxyProtocol, String> {
    let name = text.to_ascii_lowercase();
    let known = vocabulary::words::<ProxyProtocol>();
    match name.as_str() {
        "" => Ok(ProxyProtocol::Http),
        // the h asks for names to be resolved by the proxy, as they always are
        "socks5h" => Ok(ProxyProtocol::Socks5),
        name => vocabulary::find(name).ok_or_else(|| match name.contains([':', '@']) {
            true => format!("unknown protocol: the protocols are {known}"),
            false => format!("unknown protocol '{}': the protocols are {known}", begin(name)),
        }),
    }
}

/// A password that a proxy can be given.
pub fn check_password(text: &str) -> Result<(), String> {
    if text.starts_with(secrets::MARK) {
        return Err("the password begins like an encrypted one in the database".to_owned());
    }
    check_login_text("password", text)
}

fn check_login_text(what: &str, text: &str) -> Result<(), String> {
    if text.contains(char::is_control) {
        return Err(format!("the {what} holds a control character"));
    }
    match text.len() > MAX_LOGIN_BYTES {
        true => Err(format!("the {what} is longer than {MAX_LOGIN_BYTES} bytes")),
        false => Ok(()),
    }
}

fn check_login(username: &str, password: &str) -> Result<(), String> {
    check_login_text("username", username)?;
    check_password(password)?;
    if username.is_empty() && !password.is_empty() {
        return Err("a password without a username".to_owned());
    }
    if username.contains(':') {
        return Err("the username holds a colon, which no proxy accepts".to_owned());
    }
    Ok(())
}

/// Two letters, or empty.
pub fn check_state(text: &str) -> Result<(), String> {
    if text.is_empty() || two_letters(text).is_some() {
        return Ok(());
    }
    Err(format!("state '{}' is not two letters", begin(&text.to_ascii_uppercase())))
}

/// An IANA name, or empty.
pub fn check_timezone(text: &str) -> Result<(), String> {
    if text.is_empty() || schedule::time_zone::exists(text) {
        return Ok(());
    }
    Err(format!("timezone '{}' is not a zone name such as America/Phoenix", begin(text)))
}

/// An unencoded one of these in a password ends the address before its host.
const ENCODE: &str = "in user and password, write / ? # as %2F %3F %23";

fn url_fault(error: ParseError) -> String {
    match error {
        ParseError::EmptyHost => "the host is missing".to_owned(),
        ParseError::InvalidPort => format!("the port is not a number from 1 to 65535; {ENCODE}"),
        _ => "the host is not a host name or address".to_owned(),
    }
}

fn decoded(text: &str) -> Result<String, String> {
    let is_escape = |after: &str| after.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
    if !text.split('%').skip(1).all(is_escape) {
        return Err("a % in user or password is not followed by two hex digits; write it %25".to_owned());
    }
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| "user or password is not UTF-8 once decoded".to_owned())
}
