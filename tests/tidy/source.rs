//! Rust files read just well enough for the rules: code without comments and strings, and the paths it names.

use std::fs;
use std::path::{Path, PathBuf};

/// One file of the project.
pub struct Source {
    /// Relative to the project, e.g. `src/db/tasks.rs`.
    pub path: String,
    pub text: String,
    /// The code without comments, strings and the tests at its end.
    pub code: String,
    /// What stands in its string literals, likewise without those of tests.
    pub strings: Vec<String>,
}

impl Source {
    /// `["db", "tasks"]` for `src/db/tasks.rs`; `["db"]` for `src/db/mod.rs`.
    pub fn module(&self) -> Vec<&str> {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
        inner.split('/').collect()
    }

    pub fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Every path below the crate that the code names, in `use` or inline, groups unfolded and `super` resolved.
    pub fn crate_paths(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        for (at, word) in words(&self.code) {
            let Some(rest) = self.code[at + word.len()..].strip_prefix("::") else { continue };
            if word == "crate" {
                unfold(rest, Vec::new(), &mut found);
            } else if word == "super" && !self.code[..at].ends_with("super::") {
                let (rest, parents) = climb(rest, &self.module());
                unfold(rest, parents, &mut found);
            }
        }
        found
    }

    /// The crates that `use` lines name; a file's own submodules are none.
    pub fn extern_crates(&self) -> Vec<&str> {
        let uses = self.code.lines().filter_map(|line| line.trim().trim_start_matches("pub ").strip_prefix("use "));
        let first = uses.map(|path| path.split([':', ';', ' ', '{']).next().unwrap_or_default());
        let own = |name: &str| self.code.contains(&format!("mod {name};"));
        first.filter(|name| !["crate", "self", "super"].contains(name) && !own(name)).collect()
    }
}

/// All Rust files below a folder of the project.
pub fn rust_files(folder: &str) -> Vec<Source> {
    files(folder)
        .into_iter()
        .filter(|path| path.ends_with(".rs"))
        .map(|path| {
            let text = fs::read_to_string(root().join(&path)).unwrap();
            let (code, strings) = without_text(before_tests(&text));
            Source { path, text, code, strings }
        })
        .collect()
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
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Tests stand at the end of a file.
fn before_tests(text: &str) -> &str {
    let ends = ["#[cfg(test)]\nmod tests {", "#[cfg(test)]\n#[allow"];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    &text[..end.unwrap_or(text.len())]
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.split(move |c| !is_word(c))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

/// Where `super::` leads from `module`, behind the first one; gives back what comes after the last.
fn climb<'a>(mut rest: &'a str, module: &[&str]) -> (&'a str, Vec<String>) {
    let mut parents: Vec<String> = module.iter().map(|name| name.to_string()).collect();
    parents.pop();
    while let Some(further) = rest.strip_prefix("super::") {
        parents.pop();
        rest = further;
    }
    (rest, parents)
}

/// Follows a path from behind its `crate::`; `a::{b, c::d}` is two paths. Gives back what comes after.
fn unfold<'a>(text: &'a str, prefix: Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches([',', ' ', '\n']);
            if rest.is_empty() || rest.starts_with('}') {
                return rest.trim_start_matches('}');
            }
            rest = unfold(rest, prefix.clone(), found);
        }
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '*')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end.max(1).min(text.len()));
    let mut path = prefix;
    path.push(name.to_owned());
    if let Some(rest) = rest.strip_prefix("::") {
        return unfold(rest, path, found);
    }
    // macros live at the crate's root whatever file they stand in
    if !rest.starts_with('!') {
        found.push(path);
    }
    let rest = rest.trim_start();
    // `name as other`
    rest.strip_prefix("as ").map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The code with comments and literals blanked, and the string literals by themselves.
fn without_text(text: &str) -> (String, Vec<String>) {
    let (mut code, mut strings) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = &comment[comment.find('\n').unwrap_or(comment.len())..];
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some((literal, after)) = raw_string(rest).or_else(|| string(rest)) {
            strings.push(literal.to_owned());
            code.push_str("\"\"");
            rest = after;
        } else if let Some(after) = character(rest) {
            code.push_str("' '");
            rest = after;
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    (code, strings)
}

fn raw_string(text: &str) -> Option<(&str, &str)> {
    let hashes = text.strip_prefix('r')?;
    let body = hashes.trim_start_matches('#');
    let end = format!("\"{}", &hashes[..hashes.len() - body.len()]);
    body.strip_prefix('"')?.split_once(&end)
}

fn string(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = body.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&body[..end], &body[end + 1..]))
}

/// A character literal, other than a lifetime.
fn character(text: &str) -> Option<&str> {
    let body = text.strip_prefix('\'')?;
    if let Some(escape) = body.strip_prefix('\\') {
        return escape.get(1..)?.split_once('\'').map(|(_, after)| after);
    }
    let mut characters = body.chars();
    characters.next()?;
    characters.as_str().strip_prefix('\'')
}

#[cfg(test)]
mod reading {
    use std::collections::BTreeSet;

    use super::*;

    fn source(path: &str, text: &str) -> Source {
        let (code, strings) = without_text(before_tests(text));
        Source { path: path.to_owned(), text: text.to_owned(), code, strings }
    }

    fn paths(path: &str, text: &str) -> Vec<String> {
        source(path, text).crate_paths().iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn groups_are_unfolded_and_supers_resolved() {
        let text = "use crate::{db::{self, Db as D}, domain::role::*};\nuse super::super::api;\nuse super::{client::X, error};\nlet x = crate::clock::now();\ncrate::say!();";
        let mut found = paths("src/db/tasks/settle.rs", text);
        found.sort();
        let expected = [
            "clock::now",
            "db::Db",
            "db::self",
            "db::api",
            "db::tasks::client::X",
            "db::tasks::error",
            "domain::role::*",
        ];
        assert_eq!(found, BTreeSet::from(expected).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn comments_strings_and_tests_name_nothing() {
        let text = "// crate::a\n/* crate::b */ let s = \"crate::c \\\" crate::d\"; let r = r#\"crate::\"e\"#; let c = '\"'; let l: &'static str;\nuse crate::real;\n#[cfg(test)]\nmod tests { use crate::f; }";
        assert_eq!(paths("src/x.rs", text), ["real"]);
    }
}
