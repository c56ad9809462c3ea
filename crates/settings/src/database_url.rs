//! `DatabaseUrl`: a libpq URL or key-value string, taken apart as the driver does it; the only reader of such
//! text.
//!
//! Its `Display` and `Debug` hold no password. Ambiguous text is an error, which repeats nothing of the text.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Replaces a password where a URL is shown.
const MASK: &str = "***";
/// Encoded in the values of a URL's parameters.
const VALUE: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',').remove(b':');

#[derive(Clone, PartialEq)]
pub struct DatabaseUrl {
    form: Form,
    password: Option<String>,
    /// Parameters without the password; decoded, in order.
    parameters: Vec<(String, String)>,
}

#[derive(Clone, PartialEq)]
enum Form {
    /// `scheme://user@location?parameters`; user and location as they were written.
    Url { scheme: &'static str, user: Option<String>, location: String },
    /// `key=value key='a value'`
    KeyValues,
}

impl DatabaseUrl {
    pub fn parse(text: &str) -> Result<DatabaseUrl, &'static str> {
        for scheme in ["postgresql", "postgres"] {
            if let Some(rest) = text.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://")) {
                return Self::parse_url(scheme, rest);
            }
        }
        let parameters = key_values(text)?;
        Ok(Self::with_parameters(Form::KeyValues, None, parameters))
    }

    /// The printable form of any text that is meant as a database URL.
    pub fn masked(text: &str) -> String {
        match Self::parse(text) {
            Ok(url) if url.password.is_some() => url.render(Some(MASK)),
            Ok(_) => text.to_owned(),
            Err(_) => MASK.to_owned(),
        }
    }

    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// Removes a parameter, and returns its value.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.parameters.iter().rposition(|(known, _)| known == name)?;
        let (_, value) = self.parameters.remove(at);
        self.parameters.retain(|(known, _)| known != name);
        Some(value)
    }

    /// The names of its parameters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| name.as_str())
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.parameters.push((name.to_owned(), value.to_owned()));
    }

    /// The credentials end at the first `@`, as for the driver: a password may hold `/`, `?` and `#`. A
    /// second `@` is the sign of a password that should have been encoded.
    fn parse_url(scheme: &'static str, rest: &str) -> Result<DatabaseUrl, &'static str> {
        let (credentials, rest) = match rest.split_once('@') {
            Some((credentials, rest)) => (Some(credentials), rest),
            None => (None, rest),
        };
        if rest.contains('@') {
            return Err("it has a second @: encode the one in the password as %40");
        }
        let (location, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !location.split('/').next().unwrap_or_default().split(',').all(has_numeric_port) {
            return Err("a port is not a number");
        }
        let (user, password) = match credentials.map(|text| text.split_once(':').unwrap_or((text, ""))) {
            Some((user, password)) => (Some(user.to_owned()), Some(password).filter(|text| !text.is_empty())),
            None => (None, None),
        };
        let parameters = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| match pair.split_once('=') {
            Some((name, value)) => Ok((decoded(name), decoded(value))),
            None => Err("a parameter has no value"),
        });
        let form = Form::Url { scheme, user, location: location.to_owned() };
        Ok(Self::with_parameters(form, password.map(decoded), parameters.collect::<Result<_, _>>()?))
    }

    fn with_parameters(form: Form, password: Option<String>, parameters: Vec<(String, String)>) -> DatabaseUrl {
        let mut url = DatabaseUrl { form, password, parameters };
        if let Some(password) = url.take("password") {
            url.password = Some(password);
        }
        url
    }

    fn render(&self, password: Option<&str>) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, VALUE).to_string();
        match &self.form {
            Form::KeyValues => {
                let password = password.map(|value| ("password".to_owned(), value.to_owned()));
                let pairs: Vec<String> = self.parameters.iter().chain(&password).map(key_value).collect();
                pairs.join(" ")
            }
            Form::Url { scheme, user, location } => {
                let user = match (user, password) {
                    (Some(user), Some(password)) => format!("{user}:{password}@"),
                    (Some(user), None) => format!("{user}@"),
                    (None, _) => String::new(),
                };
                let alone = password.filter(|_| user.is_empty()).map(|value| format!("password={value}"));
                let pairs = self.parameters.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
                let pairs: Vec<String> = pairs.chain(alone).collect();
                let question = if pairs.is_empty() { "" } else { "?" };
                format!("{scheme}://{user}{location}{question}{}", pairs.join("&"))
            }
        }
    }
}

/// Writes the URL without the password, in a form that libpq and the driver read.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(None))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

/// `host`, `host:5432`, `[::1]:5432`. Anything else after the colon may be a password whose `@` was
/// forgotten.
fn has_numeric_port(host: &str) -> bool {
    let after_brackets = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    after_brackets.split_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// libpq's grammar: blanks around `=`, values in single quotes, `\` before a quote, a blank or itself.
fn key_values(text: &str) -> Result<Vec<(String, String)>, &'static str> {
    let (mut pairs, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or("it is neither a postgresql:// URL nor key=value pairs")?;
        let name = name.trim_end();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err("it is neither a postgresql:// URL nor key=value pairs");
        }
        let (value, after) = value(after.trim_start())?;
        pairs.push((name.to_owned(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// A value and the text after it.
fn value(text: &str) -> Result<(String, &str), &'static str> {
    let quoted = text.starts_with('\'');
    let mut chars = text.char_indices().skip(usize::from(quoted));
    let mut value = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            c if !quoted && c.is_whitespace() => return Ok((value, &text[at..])),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    if quoted { Err("a quoted value does not end") } else { Ok((value, "")) }
}

fn key_value((name, value): &(String, String)) -> String {
    let plain = !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c == '\'' || c == '\\');
    if plain {
        return format!("{name}={value}");
    }
    format!("{name}='{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::encoded(
        "postgresql://u:p%40ss@h:5433/d?sslmode=require",
        "postgresql://u@h:5433/d?sslmode=require",
        Some("p@ss")
    )]
    #[case::a_slash("postgresql://me:/s3cret@db/x", "postgresql://me@db/x", Some("/s3cret"))]
    #[case::like_a_port("postgresql://me:42/s3cret@db/x", "postgresql://me@db/x", Some("42/s3cret"))]
    #[case::a_question_mark("postgresql://me:?s3cret@db/x", "postgresql://me@db/x", Some("?s3cret"))]
    #[case::a_fragment("postgresql://me:#s3cret@db/x", "postgresql://me@db/x", Some("#s3cret"))]
    #[case::several_hosts("postgresql://u:s3@h1:5432,h2:5432/d", "postgresql://u@h1:5432,h2:5432/d", Some("s3"))]
    #[case::parameter(
        "postgresql://h/d?user=u&password=s3&sslmode=require",
        "postgresql://h/d?user=u&sslmode=require",
        Some("s3")
    )]
    #[case::encoded_name("postgresql://h/d?pass%77ord=s3", "postgresql://h/d", Some("s3"))]
    #[case::twice("postgresql://u:s1@h/d?password=s2&password=s3", "postgresql://u@h/d", Some("s3"))]
    #[case::socket("postgresql:///drover?host=/run/a&user=u", "postgresql:///drover?host=/run/a&user=u", None)]
    #[case::ipv6("postgres://u@[::1]:5432/d", "postgres://u@[::1]:5432/d", None)]
    #[case::pairs("host=h password='p' user=u", "host=h user=u", Some("p"))]
    #[case::quoted_blank("host=h password='se cret' user=u", "host=h user=u", Some("se cret"))]
    #[case::escaped_blank("host=h password=se\\ cret user=u", "host=h user=u", Some("se cret"))]
    #[case::blanks_around("host=h password = secret user='a b'", "host=h user='a b'", Some("secret"))]
    #[case::no_password("host=h user=u", "host=h user=u", None)]
    fn a_password_is_taken_out(#[case] text: &str, #[case] shown: &str, #[case] password: Option<&str>) {
        let url = DatabaseUrl::parse(text).unwrap();
        assert_eq!((url.to_string().as_str(), url.password()), (shown, password));
        let driver: tokio_postgres::Config = text.parse().unwrap();
        assert_eq!(
            driver.get_password().map(<[u8]>::to_vec),
            password.map(|text| text.as_bytes().to_vec()),
            "the driver agrees"
        );
    }

    #[rstest]
    #[case::nothing("", "")]
    #[case::socket("postgresql:///drover?host=/run/pg&user=drover", "postgresql:///drover?host=/run/pg&user=drover")]
    #[case::password("postgresql://me:secret@db/x", "postgresql://me:***@db/x")]
    #[case::odd_password("postgresql://me:/secret@db/x", "postgresql://me:***@db/x")]
    #[case::parameter("postgresql://db/x?password=secret&user=me", "postgresql://db/x?user=me&password=***")]
    #[case::pairs("host=db password='se cret' user=me", "host=db user=me password=***")]
    #[case::pairs_without("host=db user=me", "host=db user=me")]
    #[case::no_scheme("me:secret@db", "***")]
    #[case::one_slash("postgresql:/drover:secret@x/y", "***")]
    #[case::another_scheme("mysql://me:secret@db/x", "***")]
    #[case::two_ats("postgresql://me:sec@ret@db/x", "***")]
    #[case::forgotten_at("postgresql://me:secret/x", "***")]
    #[case::open_quote("host=db password='secret", "***")]
    fn a_password_is_never_shown(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(DatabaseUrl::masked(text), shown);
    }
}
