//! The words in which stores describe bundles: "2 for $50", "3/$100", "3 for 2", "buy 2 get 1 free", "BOGO 50% off", "B2G1". Pure.
//!
//! In: a name or description. Out: the bundle that it states; none where a number has a unit, or it states several bundles.

use super::{Bundle, Discount};

/// Maximum length of a text that is read; names are shorter.
const MAX_BYTES: usize = 500;
/// Maximum number of words and signs that name the goods, as in "2 infused pre-rolls for $20".
const MAX_GOODS: usize = 4;
const FREE: Discount = Discount::Percent(10_000);
const PENNY: Discount = Discount::Price(1);

/// Reads a bundle.
pub(super) fn bundle(text: &str) -> Option<Bundle> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let text = text.to_lowercase();
    let tokens = tokens(&text);
    let mut found = (0..tokens.len()).filter_map(|at| Phrase { tokens: &tokens, at }.bundle());
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    /// Hundredths.
    Number(i32),
    /// Cents.
    Dollars(i32),
    Word(&'t str),
    Sign(char),
    /// A number that is none: too large, with a comma, with two points.
    Odd,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_numeric = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let begins_number =
            first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let end = match first {
            _ if begins_number => rest.find(|c| !is_numeric(c)).unwrap_or(rest.len()),
            _ if first.is_alphabetic() => rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (run, after) = rest.split_at(end);
        match first {
            _ if begins_number => push_number(&mut tokens, run),
            _ if first.is_alphabetic() => tokens.push(word(run)),
            // punctuation between words; others may change the meaning of a number
            ' ' | '.' | ',' | '!' | '(' | ')' | ':' | ';' | '*' | '"' => {}
            _ if first.is_whitespace() => {}
            sign => tokens.push(Token::Sign(sign)),
        }
        rest = after;
    }
    tokens
}

/// Words for numbers are numbers.
fn word(run: &str) -> Token<'_> {
    const NUMBERS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];
    let number = NUMBERS.iter().zip(1..).find(|(name, _)| **name == run);
    number.map_or(Token::Word(run), |(_, number)| Token::Number(number * 100))
}

fn push_number(tokens: &mut Vec<Token<'_>>, run: &str) {
    let number = hundredths(run.trim_end_matches(['.', ',']));
    let is_dollars = tokens.last() == Some(&Token::Sign('$'));
    if is_dollars {
        tokens.pop();
    }
    tokens.push(match number {
        Some(number) if is_dollars => Token::Dollars(number),
        Some(number) => Token::Number(number),
        None => Token::Odd,
    });
}

/// `12`, `.5` and `12.99` in hundredths.
fn hundredths(number: &str) -> Option<i32> {
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    let is_plain = places.len() <= 2 && places.bytes().all(|byte| byte.is_ascii_digit()) && whole.len() <= 6;
    if !is_plain {
        return None;
    }
    let whole: i32 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let places: i32 = format!("{places:0<2}").parse().ok()?;
    Some(whole * 100 + places)
}

/// A place in the tokens, from which a bundle may be stated.
#[derive(Clone, Copy)]
struct Phrase<'p, 't> {
    tokens: &'p [Token<'t>],
    at: usize,
}

impl<'t> Phrase<'_, 't> {
    fn bundle(self) -> Option<Bundle> {
        match self.get(0)? {
            Token::Number(_) => self.several_for(),
            Token::Word("buy" | "purchase") => self.buy_and_get(),
            Token::Word("bogo") => {
                let behind = self.skip(1);
                behind.discount().or_else(|| behind.is_free_by_name()).and_then(|off| Bundle::with_reward(1, 1, off))
            }
            Token::Word("b") => self.short_form(),
            _ => None,
        }
    }

    /// `2 for $50`, `2 for 50`, `2 carts for $50`, `2/$50`, `3 for 2`.
    fn several_for(self) -> Option<Bundle> {
        let pieces = self.pieces()?;
        if self.before() == Some(Token::Word("get")) {
            return None;
        }
        if let (Some(Token::Sign('/')), Some(Token::Dollars(cents))) = (self.get(1), self.get(2)) {
            return Bundle::for_total(pieces, cents);
        }
        let end = self.skip(1).goods_until("for")?;
        match end.get(1)? {
            Token::Dollars(cents) => Bundle::for_total(pieces, cents),
            Token::Number(_) if end.at == self.at + 1 => end.skip(1).for_number(pieces),
            _ => None,
        }
    }

    /// A price without a dollar sign: that of fewer pieces, or dollars.
    fn for_number(self, pieces: i32) -> Option<Bundle> {
        let Some(Token::Number(number)) = self.get(0).filter(|_| !self.has_unit()) else { return None };
        match number / 100 {
            paid if number % 100 == 0 && paid < pieces => Bundle::with_reward(paid, pieces - paid, FREE),
            same if number % 100 == 0 && same == pieces => None,
            _ => Bundle::for_total(pieces, number),
        }
    }

    /// `buy 2 get 1 free`, `buy any 2 eighths, get 1 50% off`.
    fn buy_and_get(self) -> Option<Bundle> {
        let bought = self.skip(1 + usize::from(self.get(1) == Some(Token::Word("any"))));
        let rewarded = bought.skip(1).goods_until("get")?.skip(1);
        let (pieces, behind) = (rewarded.pieces()?, rewarded.skip(1));
        let discount = behind.discount().or_else(|| behind.is_free_at_end())?;
        behind.with_reward(bought.pieces()?, pieces, discount)
    }

    /// `b2g1`, `b1g1 50% off`.
    fn short_form(self) -> Option<Bundle> {
        let (bought, rewarded, behind) = (self.skip(1), self.skip(3), self.skip(4));
        if self.get(2) != Some(Token::Word("g")) {
            return None;
        }
        let discount = behind.discount().or_else(|| behind.is_free_by_name())?;
        behind.with_reward(bought.whole()?, rewarded.pieces()?, discount)
    }

    fn with_reward(self, bought: i32, rewarded: i32, discount: Discount) -> Option<Bundle> {
        // `get 2 for $10` may mean each or both
        let is_clear = rewarded == 1 || matches!(discount, Discount::Percent(_));
        if is_clear { Bundle::with_reward(bought, rewarded, discount) } else { None }
    }

    /// The discount that is stated here: `free`, `50% off`, `half off`, `for $1`, `for a penny`.
    fn discount(self) -> Option<Discount> {
        match [self.get(0), self.get(1), self.get(2)] {
            [Some(Token::Word("free")), ..] | [Some(Token::Word("for")), Some(Token::Word("free")), _] => Some(FREE),
            [Some(Token::Word("half")), Some(Token::Word("off" | "price")), _] => Some(Discount::Percent(5000)),
            [Some(Token::Number(percent)), Some(Token::Sign('%')), Some(Token::Word("off")) | None] => {
                Some(Discount::Percent(percent))
            }
            [Some(Token::Dollars(cents)), Some(Token::Word("off")), _] => Some(Discount::Off(cents)),
            [Some(Token::Word("for")), Some(Token::Dollars(cents)), _] => Some(Discount::Price(cents)),
            [Some(Token::Word("for")), Some(Token::Word("a")), Some(Token::Word("penny"))] => Some(PENNY),
            _ => None,
        }
    }

    /// `buy 1 get 1` and nothing more: the one that is gained is free.
    fn is_free_at_end(self) -> Option<Discount> {
        let (before, rest) = self.tokens.split_at(self.at.min(self.tokens.len()));
        (rest.is_empty() && !before.iter().any(is_about_price)).then_some(FREE)
    }

    /// `BOGO edibles`: the name of a bundle alone, in a text without another number behind it.
    fn is_free_by_name(self) -> Option<Discount> {
        let (before, rest) = self.tokens.split_at(self.at.min(self.tokens.len()));
        let has_number = rest.iter().any(|token| matches!(token, Token::Number(_)));
        (!has_number && !before.iter().chain(rest).any(is_about_price)).then_some(FREE)
    }

    /// The whole number here, if it counts pieces: not a part of `1/8`, `#2` or `1-2`, and without a unit.
    fn pieces(self) -> Option<i32> {
        let is_part = matches!(self.before(), Some(Token::Sign('/' | '#' | '-' | '–' | '%') | Token::Odd));
        self.whole().filter(|_| !is_part && !self.has_unit())
    }

    fn whole(self) -> Option<i32> {
        match self.get(0)? {
            Token::Number(number) if number % 100 == 0 => Some(number / 100),
            _ => None,
        }
    }

    /// Whether a unit follows the number here: of mass, volume, packs, time, or of another kind of price.
    fn has_unit(self) -> bool {
        const UNITS: [&str; 27] = [
            "g", "gs", "gram", "grams", "mg", "mgs", "kg", "oz", "ounce", "ounces", "lb", "lbs", "ml", "l", "pk",
            "pack", "packs", "ct", "count", "x", "th", "am", "pm", "cent", "cents", "percent", "off",
        ];
        match self.get(1) {
            Some(Token::Word(word)) => UNITS.contains(&word),
            Some(Token::Sign(sign)) => matches!(sign, '%' | '¢' | '+'),
            _ => false,
        }
    }

    /// Goes to the word `end`, past few words that name goods.
    fn goods_until(self, end: &str) -> Option<Self> {
        let goods = (0..=MAX_GOODS).find(|at| self.get(*at) == Some(Token::Word(end)))?;
        let is_goods = |at| match self.get(at) {
            Some(Token::Word(word)) => !matches!(word, "for" | "get" | "buy" | "off" | "or" | "at"),
            Some(Token::Sign(sign)) => matches!(sign, '-' | '&' | '\'' | '’'),
            _ => false,
        };
        (0..goods).all(is_goods).then(|| self.skip(goods))
    }

    fn before(self) -> Option<Token<'t>> {
        self.tokens.get(self.at.checked_sub(1)?).copied()
    }

    fn get(self, at: usize) -> Option<Token<'t>> {
        self.tokens.get(self.at + at).copied()
    }

    fn skip(self, tokens: usize) -> Self {
        Phrase { at: self.at + tokens, ..self }
    }
}

fn is_about_price(token: &Token<'_>) -> bool {
    match token {
        Token::Dollars(_) | Token::Odd => true,
        Token::Sign(sign) => !matches!(sign, '-' | '–' | '|' | '&' | '\'' | '’'),
        Token::Word(word) => matches!(*word, "half" | "off" | "penny" | "percent" | "price" | "for"),
        Token::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn total(pieces: i32, cents: i32) -> Option<Bundle> {
        Some(Bundle::for_total(pieces, cents).unwrap())
    }

    fn reward(bought: i32, rewarded: i32, discount: Discount) -> Option<Bundle> {
        Some(Bundle::with_reward(bought, rewarded, discount).unwrap())
    }

    #[rstest]
    #[case("2 for $50", total(2, 5000))]
    #[case("2 for 50", total(2, 5000))]
    #[case("Two for $49.99!", total(2, 4999))]
    #[case("Any 2 for $50 ($25 each)", total(2, 5000))]
    #[case("MIX & MATCH 4 for $100 *NOT Stackable", total(4, 10_000))]
    #[case("2 Eighths for $60", total(2, 6000))]
    #[case("3 infused pre-rolls for $30", total(3, 3000))]
    #[case("Buy 3 carts for $30", total(3, 3000))]
    #[case("5/$25 1g Play 510 Carts", total(5, 2500))]
    #[case("3 for 2", reward(2, 1, FREE))]
    #[case("2 for 1 Tuesday", reward(1, 1, FREE))]
    #[case("Open 24/7: 2 for $40", total(2, 4000))]
    fn several_pieces_have_one_price(#[case] text: &str, #[case] expected: Option<Bundle>) {
        assert_eq!(bundle(text), expected);
    }

    #[rstest]
    #[case("Buy 2 get 1 free", reward(2, 1, FREE))]
    #[case("Buy 2, Get 1 Free (3 for 2)", reward(2, 1, FREE))]
    #[case("buy one get one 50% off", reward(1, 1, Discount::Percent(5000)))]
    #[case("Buy any 2 eighths, get one half off", reward(2, 1, Discount::Percent(5000)))]
    #[case("Buy 1 get 1 for $1", reward(1, 1, Discount::Price(100)))]
    #[case("Buy 1 get 1 for a penny", reward(1, 1, PENNY))]
    #[case("Buy 1 get 1 $5 off", reward(1, 1, Discount::Off(500)))]
    #[case("Buy one get one", reward(1, 1, FREE))]
    #[case("BOGO", reward(1, 1, FREE))]
    #[case("BOGO Edibles", reward(1, 1, FREE))]
    #[case("BOGO 50%", reward(1, 1, Discount::Percent(5000)))]
    #[case("BOGO 40% off carts", reward(1, 1, Discount::Percent(4000)))]
    #[case("B2G1", reward(2, 1, FREE))]
    #[case("B1G2 free", reward(1, 2, FREE))]
    #[case("B1G1 30% off", reward(1, 1, Discount::Percent(3000)))]
    fn pieces_are_gained_at_a_discount(#[case] text: &str, #[case] expected: Option<Bundle>) {
        assert_eq!(bundle(text), expected);
    }

    #[rstest]
    #[case::nothing("")]
    #[case::a_sale("25% OFF Concentrates! *NOT Stackable ")]
    #[case::of_one("1 for $20")]
    #[case::of_none("0 for $20")]
    #[case::for_nothing("2 for $0")]
    #[case::a_fraction("1/8 for $20")]
    #[case::a_mass("28g for $100")]
    #[case::a_mass_of_two_grams("2 grams for $50")]
    #[case::goods_with_a_mass("2 1g carts for $50")]
    #[case::half_a_piece("2.5 for $50")]
    #[case::a_day("11/28 for $28")]
    #[case::a_range("1-2 for $28")]
    #[case::a_pack("10 pack for $50")]
    #[case::as_many("2 for 2")]
    #[case::a_share("2 for 50%")]
    #[case::cents("2 for 50 cents")]
    #[case::a_mass_for_pieces("2 for 1 ounce")]
    #[case::two_bundles("2 for $50 or 4 for $90")]
    #[case::thousands("2 for $1,000")]
    #[case::two_points("2 for $1.2.3")]
    #[case::too_much("2 for $99999999999")]
    #[case::too_many("99999999999 for $5")]
    #[case::the_wrong_way_round("$50 for 2")]
    #[case::more_than_all_off("Buy one get one 101% off")]
    #[case::nothing_off("BOGO 0% off")]
    #[case::other_goods("Buy 1 eighth get 1 pre-roll free")]
    #[case::several_at_a_price("Buy 1 get 2 for $10")]
    #[case::a_share_of_all("Buy 2 get 20% off")]
    #[case::no_percent_sign("BOGO 50")]
    #[case::a_later_discount("BOGO edibles 50% off")]
    #[case::an_earlier_discount("50% off BOGO")]
    #[case::masses("Buy 2g get 1g free")]
    #[case::other_digits("２ for $５０ ½ off")]
    fn other_words_are_no_bundle(#[case] text: &str) {
        assert_eq!(bundle(text), None);
    }

    #[test]
    fn a_long_text_is_not_read() {
        let text = |blanks: usize| format!("2 for{}$50", " ".repeat(blanks));
        assert_eq!([bundle(&text(400)), bundle(&text(500))], [total(2, 5000), None]);
    }

    proptest! {
        #[test]
        fn a_number_and_a_price_are_read_back(pieces in 2..=100, cents in 1..=9_999_999) {
            let text = format!("Any {pieces} for ${}.{:02} today", cents / 100, cents % 100);
            prop_assert_eq!(bundle(&text), Bundle::for_total(pieces, cents));
        }

        #[test]
        fn any_text_is_read(
            text in ".{0,80}",
            words in "((buy|get|bogo|b|g|for|free|half|off|a|penny|[0-9]{1,3}|[.,/$%#-]|one|2|1|ñ| ){1,2} ?){0,14}",
        ) {
            for text in [text, words] {
                let _ = bundle(&text);
            }
        }
    }
}
