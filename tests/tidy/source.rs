//! Rust files read for the rules: their code without comments, literals and unit tests, and every path that
//! the code names.
//!
//! The tokens are the compiler's (`proc_macro2`), so that macros' arguments are read as well.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// One file of the project.
pub struct Source {
    /// Relative to the project, e.g. `src/db/tasks.rs`.
    pub path: String,
    pub text: String,
    /// The code's tokens, with a space only between words: `Utc::now()`.
    pub code: String,
    /// Content of the string literals.
    pub strings: Vec<String>,
    /// Every path of two segments or more, and the paths that `use` names; groups are unfolded.
    paths: Vec<Vec<String>>,
}

impl Source {
    pub fn new(path: &str, text: String) -> Source {
        let tokens = text.parse().unwrap_or_else(|error| panic!("{path} is no Rust: {error}"));
        let tokens = without_tests(tokens);
        let mut source = Source { path: path.to_owned(), text, code: String::new(), strings: vec![], paths: vec![] };
        source.write(&tokens);
        find_paths(&tokens, &mut source.paths);
        source
    }

    /// `["db", "tasks"]` for `src/db/tasks.rs`; `["db"]` for `src/db/mod.rs`.
    pub fn module(&self) -> Vec<&str> {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
        inner.split('/').collect()
    }

    pub fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Lines that are neither empty nor comments, before the tests at the end.
    pub fn code_lines(&self) -> usize {
        let code = self.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    }

    /// The paths below the crate, `super` resolved.
    pub fn crate_paths(&self) -> Vec<Vec<String>> {
        self.paths.iter().filter_map(|path| self.below_crate(path)).collect()
    }

    /// The first segments of the paths that leave the crate, or stay within the file.
    pub fn first_segments(&self) -> Vec<&str> {
        self.paths.iter().map(|path| path[0].as_str()).collect()
    }

    fn below_crate(&self, path: &[String]) -> Option<Vec<String>> {
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "super" => {
                let supers = path.iter().take_while(|segment| *segment == "super").count();
                let module = self.module();
                let parents = &module[..module.len().saturating_sub(supers)];
                Some(parents.iter().map(|name| (*name).to_owned()).chain(path[supers..].iter().cloned()).collect())
            }
            _ => None,
        }
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

/// All Rust files below a folder of the project.
pub fn rust_files(folder: &str) -> Vec<Source> {
    let paths = files(folder).into_iter().filter(|path| path.ends_with(".rs"));
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

fn is_separator(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [first, second, ..] if is_punct(first, ':') && is_punct(second, ':'))
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

fn find_paths(tokens: &[TokenTree], found: &mut Vec<Vec<String>>) {
    let (mut at, mut after_use) = (0, false);
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word) if word == "use" => after_use = true,
            TokenTree::Ident(_) if after_use || is_separator(&tokens[at + 1..]) => {
                at = follow(tokens, at, &[], found);
                after_use = false;
                continue;
            }
            TokenTree::Group(group) => find_paths(&tokens_of(group), found),
            _ => {}
        }
        at += 1;
    }
}

/// Reads the path whose next segment is at `at`; gives back where it ends.
fn follow(tokens: &[TokenTree], mut at: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) => path.push(word.to_string()),
            Some(TokenTree::Group(group)) if is_body(&tokens[at]) => {
                for one in tokens_of(group).split(|token| is_punct(token, ',')).filter(|one| !one.is_empty()) {
                    follow(one, 0, &path, found);
                }
                return at + 1;
            }
            // `use a::*`, `a::<T>`
            _ => break,
        }
        at += 1;
        if !is_separator(&tokens[at..]) {
            break;
        }
        at += 2;
    }
    // macros are at the crate's root, whatever file declares them
    if !tokens.get(at).is_some_and(|next| is_punct(next, '!')) {
        found.push(path);
    }
    at
}

#[cfg(test)]
mod reading {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::new(path, text.to_owned())
    }

    fn crate_paths(path: &str, text: &str) -> Vec<String> {
        source(path, text).crate_paths().iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn groups_are_unfolded_and_supers_resolved() {
        let text = "use crate::{db::{self, Db as D}, domain::role::*};\nuse super::super::api;\nuse super::{client::X, error};\nfn f() { let x = crate::clock::now(); crate::say!(); }";
        let mut found = crate_paths("src/db/tasks/settle.rs", text);
        found.sort();
        let expected =
            ["clock::now", "db::Db", "db::api", "db::self", "db::tasks::client::X", "db::tasks::error", "domain::role"];
        assert_eq!(found, expected);
    }

    #[test]
    fn comments_strings_and_tests_name_nothing() {
        let text = "//! crate::a\n/* crate::b */ const S: &str = \"crate::c \\\" crate::d\"; const R: &str = r#\"crate::\"e\"#; const C: char = '\"';\n/// crate::f\nuse crate::real;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests { use crate::g; }\n#[cfg(test)]\nuse crate::h;\nfn f() { #[cfg(test)] { crate::i() } }";
        let source = source("src/x.rs", text);
        assert_eq!(source.crate_paths(), [["real"]]);
        assert_eq!(source.strings, ["crate::c \\\" crate::d", "crate::\"e"]);
    }

    #[test]
    fn crates_are_found_in_expressions_types_and_macros() {
        let text = "use one;\nuse two::A;\nfn f(a: three::B) -> C { four::g(); h!(five::i(), a); j::<six::K>() }";
        assert_eq!(source("src/x.rs", text).first_segments(), ["one", "two", "three", "four", "five", "j", "six"]);
    }
}
