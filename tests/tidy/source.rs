//! Rust files read for the rules: their code without comments, literals and unit tests.
//!
//! The tokens are the compiler's (`proc_macro2`), so that macros' arguments are read as well.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// One file of the project.
pub struct Source {
    /// Relative to the project, e.g. `crates/db/src/tasks.rs`.
    pub path: String,
    pub text: String,
    /// The code's tokens, with a space only between words: `Utc::now()`.
    pub code: String,
    /// Content of the string literals.
    pub strings: Vec<String>,
}

impl Source {
    pub fn new(path: &str, text: String) -> Source {
        let tokens = text.parse().unwrap_or_else(|error| panic!("{path} is no Rust: {error}"));
        let tokens = without_tests(tokens);
        let mut source = Source { path: path.to_owned(), text, code: String::new(), strings: vec![] };
        source.write(&tokens);
        source
    }

    /// Whether it is `src/<module>.rs` or below `src/<module>/`.
    pub fn is_of_module(&self, module: &str) -> bool {
        let rest = self.path.strip_prefix("src/").and_then(|path| path.strip_prefix(module));
        rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }

    /// Whether a path of its code begins with `name`, or with `crate::name`.
    pub fn names(&self, name: &str) -> bool {
        let continues = |before: &str| {
            before.ends_with("::") || before.ends_with(|last: char| last.is_alphanumeric() || last == '_')
        };
        self.code.match_indices(&format!("{name}::")).any(|(at, _)| {
            let before = &self.code[..at];
            !continues(before.strip_suffix("crate::").unwrap_or(before))
        })
    }

    pub fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Lines that are neither empty nor comments, before the tests at the end.
    pub fn code_lines(&self) -> usize {
        self.before_tests().lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    }

    pub fn before_tests(&self) -> &str {
        self.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
    }

    fn write(&mut self, tokens: &[TokenTree]) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => self.write_word(&word.to_string()),
                TokenTree::Punct(punct) => self.code.push(punct.as_char()),
                TokenTree::Literal(literal) => self.write_literal(&literal.to_string()),
                TokenTree::Group(group) => {
                    let (open, close) = delimiters(group);
                    self.code.push_str(open);
                    self.write(&tokens_of(group));
                    self.code.push_str(close);
                }
            }
        }
    }

    fn write_word(&mut self, word: &str) {
        if self.code.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
            self.code.push(' ');
        }
        self.code.push_str(word);
    }

    fn write_literal(&mut self, literal: &str) {
        match (literal.find('"'), literal.rfind('"')) {
            (Some(begin), Some(end)) if begin < end => {
                self.strings.push(literal[begin + 1..end].to_owned());
                self.code.push_str("\"\"");
            }
            _ => self.write_word(literal),
        }
    }
}

/// All Rust files below a folder of the project, each read once for all rules.
pub fn rust_files(folder: &str) -> impl Iterator<Item = &'static Source> {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_sources);
    let start = format!("{folder}/");
    SOURCES.iter().filter(move |file| file.path.starts_with(&start))
}

fn read_sources() -> Vec<Source> {
    let paths = ["crates", "sim", "src", "tests"].into_iter().flat_map(files).filter(|path| path.ends_with(".rs"));
    paths.map(|path| Source::new(&path, fs::read_to_string(root().join(&path)).unwrap())).collect()
}

/// All files below a folder, relative to the project, sorted.
pub fn files(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if [".git", "target"].iter().any(|skipped| entry.file_name() == *skipped) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(root()).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The tokens without doc comments and without items under `#[cfg(test)]`, at any depth.
fn without_tests(stream: TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut tokens = stream.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_attribute =
            is_punct(&token, '#') && tokens.peek().is_some_and(|next| !matches!(next, TokenTree::Ident(_)));
        if !is_attribute {
            kept.push(match token {
                TokenTree::Group(group) => regroup(&group),
                other => other,
            });
            continue;
        }
        let bang = tokens.next_if(|next| is_punct(next, '!'));
        let Some(TokenTree::Group(attribute)) = tokens.next() else { continue };
        match attribute.stream().to_string() {
            text if text.starts_with("doc") => {}
            text if bang.is_none() && text.replace(' ', "") == "cfg(test)" => {
                // to the end of the item: its body, or a semicolon
                let _ = tokens.by_ref().find(|token| is_punct(token, ';') || is_body(token));
            }
            _ => kept.extend([token].into_iter().chain(bang).chain([TokenTree::Group(attribute)])),
        }
    }
    kept
}

fn regroup(group: &Group) -> TokenTree {
    Group::new(group.delimiter(), without_tests(group.stream()).into_iter().collect()).into()
}

fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == punct)
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn tokens_of(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn delimiters(group: &Group) -> (&'static str, &'static str) {
    match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod reading {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new("src/db/x.rs", text.to_owned())
    }

    #[test]
    fn paths_are_found_by_their_beginning() {
        let source =
            source("use one::A; use crate::two; fn f(x: three::B) { crate::four::g(); h::five::i(); six_::k() }");
        let named = ["one", "two", "three", "four", "five", "six", "x"].map(|name| source.names(name));
        assert_eq!(named, [true, false, true, true, false, false, false]);
        assert!(source.is_of_module("db") && !source.is_of_module("d"));
    }

    #[test]
    fn comments_strings_and_tests_name_nothing() {
        let text = "//! a::b\n/* c::d */ const S: &str = \"e::f \\\" g::h\"; const R: &str = r#\"i::\"j\"#; const C: char = '\"';\n/// k::l\nuse real::A;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests { use m::n; }\n#[cfg(test)]\nuse o::p;\nfn f() { #[cfg(test)] { q::r() } }";
        let source = source(text);
        let named = ["a", "c", "e", "i", "k", "m", "o", "q", "real"].map(|name| source.names(name));
        assert_eq!(named, [false, false, false, false, false, false, false, false, true]);
        assert_eq!(source.strings, ["e::f \\\" g::h", "i::\"j"]);
    }
}
