//! Tokens: a product's name in words, numbers and signs that mean something. In: a name of any text. Out: a bounded row of tokens.

use crate::text::folded;

/// Maximum number of tokens of a name; real ones have a dozen.
const MAX_TOKENS: usize = 48;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    /// Its letters, in lower case.
    pub text: String,
    /// The part of the name that it is in, between two separators.
    pub part: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Word,
    /// A number above 0, or a fraction.
    Number(f64),
    /// Several numbers with colons, as in `1:1`.
    Ratio,
    Percent,
}

/// Reads a name. Signs of trade marks do not count, `&` is a word.
pub(super) fn tokens(name: &str) -> Vec<Token> {
    let plain = name.replace(['™', '®', '©', '℠'], " ").replace('&', " and ");
    let folded = folded(&plain).replace('\u{2044}', "/");
    let mut reader = Reader { tokens: Vec::new(), part: 0 };
    let mut rest = folded.as_str();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            _ if first.is_ascii_digit() || first == '.' && starts_with_digit(&rest[1..]) => number_end(rest),
            _ if first.is_alphabetic() => rest.find(|char: char| !char.is_alphabetic()).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (run, after) = rest.split_at(end);
        reader.push(first, run);
        rest = after;
        if reader.tokens.len() == MAX_TOKENS {
            break;
        }
    }
    reader.tokens
}

struct Reader {
    tokens: Vec<Token>,
    part: usize,
}

impl Reader {
    fn push(&mut self, first: char, run: &str) {
        let kind = match first {
            '%' => Kind::Percent,
            _ if first.is_alphabetic() => Kind::Word,
            _ if first.is_ascii_digit() || first == '.' && run.len() > 1 => number(run),
            _ => {
                self.part += usize::from(is_separator(first));
                return;
            }
        };
        self.tokens.push(Token { kind, text: run.to_owned(), part: self.part });
    }
}

fn number(run: &str) -> Kind {
    if run.contains(':') {
        return Kind::Ratio;
    }
    let value = match run.split_once('/') {
        Some((part, whole)) => {
            part.parse::<f64>().ok().zip(whole.parse::<f64>().ok()).map(|(part, whole)| part / whole)
        }
        None => run.parse().ok(),
    };
    // an odd number is a word
    value.filter(|value| value.is_finite() && *value < 1e9).map_or(Kind::Word, Kind::Number)
}

/// The end of a number: digits, with single points, slashes and colons between them.
fn number_end(text: &str) -> usize {
    let is_inner = |char: char| matches!(char, '.' | '/' | ':');
    let mut end = 0;
    for (at, char) in text.char_indices() {
        let is_part = char.is_ascii_digit() || is_inner(char) && starts_with_digit(&text[at + char.len_utf8()..]);
        if !is_part {
            break;
        }
        end = at + char.len_utf8();
    }
    end
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_digit())
}

fn is_separator(char: char) -> bool {
    matches!(char, '|' | '(' | ')' | '[' | ']' | '{' | '}' | ':' | ';' | ',' | '·' | '•' | '–' | '—' | '-' | '/' | '~')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Forza | Live Sugar | 1g", "forza live sugar 1 g")]
    #[case("Pre-Rolls 5 x .5g", "pre rolls 5 x .5 g")]
    #[case("½ oz of Café™", "1/2 oz of cafe")]
    #[case("1:1 CBD 20% & more", "1:1 cbd 20 % and more")]
    #[case("1.2.3g ..//", "1.2.3 g")]
    #[case("🌿", "")]
    fn a_name_is_read_in_tokens(#[case] name: &str, #[case] expected: &str) {
        let texts: Vec<String> = tokens(name).into_iter().map(|token| token.text).collect();
        assert_eq!(texts.join(" "), expected);
    }
}
