//! One line of a proxy list on its way to a `ProxyEntry`: taken apart by its form, then checked field by field.
//!
//! No message repeats a user or password, nor a line that may hold one.

use super::ProxyProtocol;
use super::list::ProxyEntry;

const EXPECTED: &str = "expected host:port, host:port:user:password or a URL";

/// The fields as written; empty = not given.
#[derive(Default)]
pub struct Draft {
    protocol: String,
    host: String,
    port: String,
    username: String,
    password: String,
    state_code: String,
    timezone: String,
}

/// `host:port` or `host:port:user:password`; the password may hold colons and is taken as it stands.
pub fn plain(line: &str) -> Result<Draft, String> {
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
    Ok(Draft { username: username.into(), password: password.into(), ..Draft::at(host, port) })
}

/// `http://user:password@host:port`, `socks5://…`; user and password percent-encoded.
pub fn url(line: &str) -> Result<Draft, String> {
    let (protocol, rest) = line.split_once("://").ok_or(EXPECTED)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (login, address) = rest.rsplit_once('@').unwrap_or(("", rest));
    let (username, password) = login.split_once(':').unwrap_or((login, ""));
    let (host, port) = split_host(address).ok_or("the port is missing")?;
    Ok(Draft {
        protocol: protocol.to_owned(),
        username: percent_decoded(username)?,
        password: percent_decoded(password)?,
        ..Draft::at(host, port)
    })
}

impl Draft {
    fn at(host: &str, port: &str) -> Self {
        Draft { host: host.to_owned(), port: port.to_owned(), ..Draft::default() }
    }

    /// Sets the field of a CSV column; unknown columns were refused with the header.
    pub fn set(&mut self, column: &str, cell: String) {
        match column {
            "protocol" => self.protocol = cell,
            "host" => self.host = cell,
            "port" => self.port = cell,
            "username" => self.username = cell,
            "password" => self.password = cell,
            "state_code" => self.state_code = cell,
            "timezone" => self.timezone = cell,
            _ => {}
        }
    }

    /// The entry, or everything that is wrong with it.
    pub fn check(self) -> Result<ProxyEntry, Vec<String>> {
        // beside a login, what stands where the host should be may be a part of it
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

/// Enough of a bad value to find it by.
fn begin(text: &str) -> &str {
    text.char_indices().nth(20).map_or(text, |(end, _)| &text[..end])
}

fn given(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// The host (IPv6 in brackets, which go) and what follows its colon.
fn split_host(address: &str) -> Option<(&str, &str)> {
    match address.strip_prefix('[') {
        Some(v6) => v6.split_once("]:"),
        None => address.split_once(':'),
    }
}

fn host(text: &str, is_shown: bool) -> Result<String, String> {
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if text.is_empty() {
        return Err("the host is missing".to_owned());
    }
    let is_v6 = text.parse::<std::net::Ipv6Addr>().is_ok();
    let is_name = text.len() <= 253 && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    if is_v6 || is_name {
        return Ok(text.to_ascii_lowercase());
    }
    // what stands where the host should be may be half of somebody's password
    match is_shown && text.len() <= 40 && !text.contains('@') {
        true => Err(format!("'{text}' is no host name or address")),
        false => Err("the host is no host name or address".to_owned()),
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
        // a longer number may be somebody's password
        _ if text.len() > 5 => Err("the port is out of range (1–65535)".to_owned()),
        _ => Err(format!("port {text} is out of range (1–65535)")),
    }
}

fn protocol(text: &str) -> Result<ProxyProtocol, String> {
    let name = text.to_ascii_lowercase();
    let known = ProxyProtocol::ALL.map(ProxyProtocol::name).join(", ");
    match name.as_str() {
        "" => Ok(ProxyProtocol::Http),
        // names are always resolved by the proxy, which is what the h asks for
        "socks5h" => Ok(ProxyProtocol::Socks5),
        "https" => Err(format!("protocol 'https' cannot be used yet: the protocols are {known}")),
        name => ProxyProtocol::from_name(name).ok_or_else(|| match name.contains([':', '@']) {
            true => format!("unknown protocol: the protocols are {known}"),
            false => format!("unknown protocol '{}': the protocols are {known}", begin(name)),
        }),
    }
}

fn check_login(username: &str, password: &str) -> Result<(), String> {
    for (what, text) in [("username", username), ("password", password)] {
        if text.contains(char::is_control) {
            return Err(format!("the {what} holds a control character"));
        }
        if text.len() > 255 {
            return Err(format!("the {what} is longer than 255 bytes"));
        }
    }
    if username.is_empty() && !password.is_empty() {
        return Err("a password without a username".to_owned());
    }
    if username.contains(':') {
        return Err("the username holds a colon, which proxies cannot be told".to_owned());
    }
    Ok(())
}

fn check_state(text: &str) -> Result<(), String> {
    if text.is_empty() || (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic())) {
        return Ok(());
    }
    Err(format!("state '{}' is not two letters", begin(&text.to_ascii_uppercase())))
}

fn check_timezone(text: &str) -> Result<(), String> {
    let is_iana = text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "/_+-".contains(c));
    if is_iana {
        return Ok(());
    }
    Err(format!("timezone '{}' is not written like America/Phoenix", begin(text)))
}

fn percent_decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else {
            return Err("a % in user or password is not followed by two hex digits".to_owned());
        };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| "user or password is not UTF-8 once decoded".to_owned())
}
