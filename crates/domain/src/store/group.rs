//! The name of a group of stores, as operators write it.

const MAX_LENGTH: usize = 40;
/// Maximum number of groups that one store may be in.
pub const MAX_GROUPS: usize = 20;

/// The name in small letters, or its fault.
pub fn name(text: &str) -> Result<String, String> {
    let name = text.trim().to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if !(1..=MAX_LENGTH).contains(&name.len()) || !name.chars().all(is_plain) {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(MAX_LENGTH).collect();
        return Err(format!(
            "group '{shown}' is not a name of 1 to {MAX_LENGTH} letters, digits, hyphens and underscores, such as rivals"
        ));
    }
    Ok(name)
}

/// The names in a list with semicolons or blanks between them, each once.
pub fn names(text: &str) -> Result<Vec<String>, String> {
    let parts = text.split(|c: char| c == ';' || c.is_whitespace()).filter(|part| !part.is_empty());
    let mut names = parts.map(name).collect::<Result<Vec<_>, _>>()?;
    names.sort();
    names.dedup();
    if names.len() > MAX_GROUPS {
        return Err(format!("{} groups; the maximum for a store is {MAX_GROUPS}", names.len()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one("rivals", &["rivals"])]
    #[case::several("Rivals; az-north  a_1;", &["a_1", "az-north", "rivals"])]
    #[case::twice("a;A", &["a"])]
    #[case::none(" ; ", &[])]
    fn names_are_read_from_a_list(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(names(text).unwrap(), expected);
    }

    #[rstest]
    #[case::a_comma("a,b")]
    #[case::an_accent("é")]
    #[case::empty("")]
    #[case::long("aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde")]
    fn what_is_no_name_is_refused(#[case] text: &str) {
        assert!(name(text).unwrap_err().contains("such as rivals"));
    }

    #[test]
    fn a_refused_name_is_quoted_without_control_characters() {
        assert!(name("a\u{1b}b!").unwrap_err().starts_with("group 'ab!' is not a name"));
    }

    #[test]
    fn a_store_is_in_few_groups() {
        let many: Vec<String> = (0..21).map(|n| format!("g{n}")).collect();
        assert_eq!(names(&many[1..].join(";")).map(|names| names.len()), Ok(20));
        assert!(names(&many.join(";")).unwrap_err().contains("maximum for a store is 20"));
    }
}
