//! `BrandName`: the letters by which spellings of a maker's name are compared. In: a name as a platform writes it. Out: its letters without
//! blanks, once with the words of the trade and once without.

use super::lexicon::Meaning;
use super::rules::Rules;
use super::tokens::{Kind, Token, tokens};

/// Maximum number of letters that are compared.
const MAX_LETTERS: usize = 48;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BrandName {
    /// Letters without words of the law and kinds of goods: `copperfernfarms` of `Copper Fern Farms, Inc.` and of `Copper Fern Farms Gummies`.
    pub full: String,
    /// The same without words of the trade: `copperfern`.
    pub short: String,
}

impl BrandName {
    /// None: the name has no letters.
    pub fn new(name: &str, rules: &Rules) -> Option<BrandName> {
        let tokens = tokens(name);
        let words: Vec<&Token> = tokens.iter().filter(|token| token.kind != Kind::Percent).collect();
        let legal = |token: &&&Token| !rules.table.brands.legal.contains(&token.text);
        let goods = |token: &&&Token| !matches!(rules.lexicon.meaning(&token.text), Some(Meaning::Form(_)));
        let trade = |token: &&&Token| !rules.table.brands.trade.contains(&token.text);
        let all = letters(words.iter());
        let lawful = letters(words.iter().filter(legal));
        let full = letters(words.iter().filter(legal).filter(goods));
        let short = letters(words.iter().filter(legal).filter(goods).filter(trade));
        let full = [full, lawful, all].into_iter().find(|letters| !letters.is_empty())?;
        let short = if short.chars().count() < 3 { full.clone() } else { short };
        Some(BrandName { full, short })
    }
}

fn letters<'t>(words: impl Iterator<Item = &'t &'t Token>) -> String {
    let joined: String = words.map(|token| token.text.as_str()).collect();
    joined.chars().take(MAX_LETTERS).collect()
}
