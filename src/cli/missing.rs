//! Refusals of names and ids that do not exist, with the command that lists those that do. In: the API's words. Out: the same
//! with a remedy.

/// A word by which the API names a thing, and the command that lists such things.
const LISTS: [(&str, &str); 23] = [
    ("account", "media list accounts"),
    ("channel", "media list channels"),
    ("credential", "media list credentials"),
    ("endpoint", "media list endpoints"),
    ("forum", "media list forums"),
    ("group", "groups list"),
    ("host", "hosts list"),
    ("item", "media items"),
    ("job", "jobs list"),
    ("notification", "notifications list"),
    ("payload", "payload list"),
    ("person", "media list people"),
    ("pod", "workers list"),
    ("product", "products search"),
    ("proxy", "proxies list"),
    ("rule", "media list rules"),
    ("schedule", "schedules list"),
    ("search", "media list searches"),
    ("store", "stores list"),
    ("task", "tasks list"),
    ("thread", "media list threads"),
    ("token", "token list"),
    ("worker", "workers list"),
];

/// `store 7 does not exist; `drover stores list` shows what exists`
pub fn with_remedy(refusal: &str) -> String {
    match list_of(refusal) {
        Some(list) => format!("{refusal}; `drover {list}` shows what exists"),
        None => refusal.to_owned(),
    }
}

fn list_of(refusal: &str) -> Option<&'static str> {
    let subject = refusal.strip_suffix(" does not exist")?;
    // after the name of a field
    let subject = subject.rsplit(": ").next().unwrap_or(subject);
    let noun = subject.strip_prefix("a ").unwrap_or(subject).split(' ').next()?;
    LISTS.iter().find(|(name, _)| *name == noun).map(|(_, list)| *list)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::an_id("store 7 does not exist", Some("stores list"))]
    #[case::in_a_field("depends_on: task 7 does not exist", Some("tasks list"))]
    #[case::one_of_another("a payload of store 7 does not exist", Some("payload list"))]
    #[case::a_thing_without_a_list("operation 7 does not exist", None)]
    #[case::another_refusal("task 7 is running", None)]
    fn a_refusal_of_an_id_names_the_list(#[case] refusal: &str, #[case] list: Option<&str>) {
        let remedy = list.map_or_else(String::new, |list| format!("; `drover {list}` shows what exists"));
        assert_eq!(with_remedy(refusal), format!("{refusal}{remedy}"));
    }

    #[test]
    fn every_list_is_a_command() {
        for (_, list) in LISTS {
            let mut words = list.split(' ');
            let group = words.next().unwrap_or_default();
            let command = crate::cli::command().find_subcommand(group).cloned().unwrap();
            assert!(words.next().is_some_and(|word| command.find_subcommand(word).is_some()), "{list}");
        }
    }
}
