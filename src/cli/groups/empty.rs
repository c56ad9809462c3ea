//! Error text for an empty group: lists the existing groups, and suggests the most similar one.

use crate::cli::{ApiClient, ClientError};
use contract::groups::GroupPage;
use foundation::spelling;

/// Maximum listed names; further ones are counted.
const MAX_NAMES: usize = 20;

/// Logs and returns the warning about `group`; None if it holds a store.
pub async fn warn_if_empty(api: &ApiClient, group: &str) -> Result<Option<String>, ClientError> {
    let warning = warning(api, group).await?;
    if let Some(warning) = &warning {
        tracing::warn!("{warning}");
    }
    Ok(warning)
}

async fn warning(api: &ApiClient, group: &str) -> Result<Option<String>, ClientError> {
    let page: GroupPage = api.get("/api/groups?limit=500").await?;
    let known: Vec<String> = page.groups.into_iter().filter(|group| group.stores > 0).map(|group| group.name).collect();
    Ok((!known.iter().any(|name| name == group)).then(|| text(group, &known)))
}

fn text(group: &str, known: &[String]) -> String {
    let mut text = format!("group '{group}' has no stores");
    if let Some(name) = spelling::nearest(group, known) {
        text += &format!(" (did you mean '{name}'?)");
    }
    let listed: Vec<&str> = known.iter().take(MAX_NAMES).map(String::as_str).collect();
    text += &match known.len().saturating_sub(MAX_NAMES) {
        _ if known.is_empty() => ", and no groups exist yet".to_owned(),
        0 => format!("; the groups are {}", listed.join(", ")),
        more => format!("; the groups are {} and {more} more", listed.join(", ")),
    };
    text + &format!(". Add stores with `drover stores tag {group} ID…`")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::near("rival", &["az", "rivals"], "group 'rival' has no stores (did you mean 'rivals'?); the groups are az, rivals. ")]
    #[case::far("favourites", &["az"], "group 'favourites' has no stores; the groups are az. ")]
    #[case::none("a", &[], "group 'a' has no stores, and no groups exist yet. Add stores with `drover stores tag a ID…`")]
    fn groups_that_there_are_are_named(#[case] group: &str, #[case] known: &[&str], #[case] expected: &str) {
        let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
        let text = text(group, &known);
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn many_groups_are_not_all_listed() {
        let known: Vec<String> = (0..25).map(|n| format!("group-{n:02}")).collect();
        assert!(text("rivals", &known).contains("group-19 and 5 more"));
    }
}
