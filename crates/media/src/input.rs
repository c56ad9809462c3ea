//! Checks of input before a tool sees it: addresses, texts and paths that could mean more to a tool than
//! they say.

use std::path::Path;

use percent_encoding::percent_decode_str;
use thiserror::Error;

const MAX_TEXT: usize = 4 << 10;
/// Marks of templates, variables and home directories: tools replace them in paths.
const REPLACED_IN_PATHS: [char; 5] = ['{', '}', '$', '~', '%'];

/// A person's name and password at a site. It has no `Debug`.
#[derive(Clone)]
pub struct Login {
    pub username: String,
    pub password: String,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InputError {
    #[error("{0} has a line break or another control character")]
    ControlCharacter(&'static str),
    #[error("{0} is longer than {MAX_TEXT} bytes")]
    TooLong(&'static str),
    #[error("{0} is empty")]
    Empty(&'static str),
    #[error("the address must begin with http:// or https:// and have no space")]
    NoAddress,
    #[error("the path {0} must be absolute, UTF-8, and free of {{}}$~%")]
    BadPath(String),
    #[error("{0} is not a valid name of a platform")]
    BadCategory(String),
}

/// A text for a line of options or a value of a configuration. It is never repeated in an error.
pub fn text<'a>(name: &'static str, text: &'a str) -> Result<&'a str, InputError> {
    let breaks_lines = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    match text {
        "" => Err(InputError::Empty(name)),
        long if long.len() > MAX_TEXT => Err(InputError::TooLong(name)),
        broken if broken.contains(breaks_lines) => Err(InputError::ControlCharacter(name)),
        fine => Ok(fine),
    }
}

/// An address of the web: no option, no file.
pub fn address(address: &str) -> Result<&str, InputError> {
    let address = text("the address", address)?;
    let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !address.contains(char::is_whitespace) => Ok(address),
        _ => Err(InputError::NoAddress),
    }
}

pub fn path(path: &Path) -> Result<&str, InputError> {
    let bad = || InputError::BadPath(path.display().to_string());
    let name = path.to_str().filter(|name| !name.contains(REPLACED_IN_PATHS)).ok_or_else(bad)?;
    if !path.is_absolute() || text("the path", name).is_err() {
        return Err(bad());
    }
    Ok(name)
}

/// The password in an address such as `http://user:password@host`, to mask it.
pub fn password_of(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_, password) = authority.rsplit_once('@')?.0.split_once(':')?;
    Some(percent_decode_str(password).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::http("http://a", true)]
    #[case::quoted("https://a/b?c='d'#e", true)]
    #[case::file("file:///etc/passwd", false)]
    #[case::option("--exec=x", false)]
    #[case::search("ytsearch:x", false)]
    #[case::empty("", false)]
    #[case::scheme_alone("https://", false)]
    #[case::space("http://a b", false)]
    #[case::newline("http://a\n--exec=x", false)]
    #[case::carriage_return("http://a\r--exec=x", false)]
    #[case::line_separator("http://a\u{2028}b", false)]
    #[case::next_line("http://a\u{85}b", false)]
    #[case::zero("http://a\0b", false)]
    fn an_address_is_one_of_the_web(#[case] text: &str, #[case] is_one: bool) {
        assert_eq!(address(text).is_ok(), is_one);
    }

    #[rstest]
    #[case("/var/lib/media", true)]
    #[case("relative", false)]
    #[case("/a/{category}", false)]
    #[case("/a/$HOME", false)]
    #[case("/a/~x", false)]
    #[case("/a\nb", false)]
    fn a_path_means_itself_alone(#[case] text: &str, #[case] is_fine: bool) {
        assert_eq!(path(Path::new(text)).is_ok(), is_fine);
    }

    #[rstest]
    #[case("http://user:se:cret@host:1/", Some("se:cret"))]
    #[case("http://user:p%40ss@host", Some("p@ss"))]
    #[case("http://user@host", None)]
    #[case("http://host/a:b@c", None)]
    fn the_password_of_a_proxy_is_known(#[case] address: &str, #[case] password: Option<&str>) {
        assert_eq!(password_of(address).as_deref(), password);
    }
}
