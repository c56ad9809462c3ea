//! `typos`: inputs of people who mean a product and hit one wrong key.

const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";
/// Minimum length: people do not search for shorter words.
const MIN_WORD: usize = 3;

#[derive(Clone, Debug)]
pub struct Typo {
    pub typed: String,
    pub meant: Vec<String>,
}

impl Typo {
    /// Whether a product of this brand and name has the words that were meant.
    pub fn means(&self, name: &str) -> bool {
        let words = words(name);
        self.meant.iter().all(|meant| words.contains(meant))
    }
}

/// One of each name that has words: one or two adjacent words, with one letter left out, put in, replaced or
/// exchanged.
pub fn typos<'a>(names: impl IntoIterator<Item = &'a str>, seed: u64) -> Vec<Typo> {
    let mut dice = Dice(seed);
    names.into_iter().filter_map(|name| dice.typo(&words(name))).collect()
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| word.len() >= MIN_WORD);
    words.map(str::to_ascii_lowercase).collect()
}

/// The same for the same seed.
struct Dice(u64);

impl Dice {
    /// SplitMix64.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % end as u64) as usize
    }

    fn typo(&mut self, words: &[String]) -> Option<Typo> {
        let count = words.len().min(1 + self.below(2));
        let first = self.below((words.len() + 1).checked_sub(count)?.max(1));
        let meant = words.get(first..first + count).filter(|meant| !meant.is_empty())?.to_vec();
        let right = meant.join(" ");
        loop {
            let typed = self.edited(right.as_bytes());
            if typed != right {
                return Some(Typo { typed, meant });
            }
        }
    }

    /// The space between two words stays.
    fn edited(&mut self, text: &[u8]) -> String {
        let mut typed = text.to_vec();
        let (at, letter) = (self.below(text.len()), LETTERS[self.below(LETTERS.len())]);
        match self.below(4) {
            0 => typed.insert(at, letter),
            _ if text[at] == b' ' => (),
            1 => drop(typed.remove(at)),
            2 => typed[at] = letter,
            _ if text.get(at + 1).is_some_and(|next| *next != b' ') => typed.swap(at, at + 1),
            _ => (),
        }
        String::from_utf8(typed).expect("letters and a space")
    }
}
