//! The tip of a usage error that another command solves.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Actions that `drover tasks` takes by ids, and `drover tasks bulk` by filters.
const BY_ID: [&str; 3] = ["retry", "cancel", "delete"];

/// Names `tasks bulk` to people who give a filter to `tasks retry`, `cancel` or `delete`.
pub fn naming_bulk(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(action) = action(&error)
    {
        let tip = format!("`drover tasks {action}` takes ids; filters work with `drover tasks bulk {action}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

fn action(error: &clap::Error) -> Option<&'static str> {
    let usage = error.get(ContextKind::Usage)?.to_string();
    BY_ID.into_iter().find(|action| usage.contains(&format!(" tasks {action} ")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_filter(&["drover", "tasks", "retry", "--status", "failed"], true)]
    #[case::a_filter_after_an_id(&["drover", "tasks", "delete", "7", "--error", "503"], true)]
    #[case::a_program_of_another_name(&["drover-0.1", "tasks", "cancel", "--role", "payload_fetch"], true)]
    #[case::another_command(&["drover", "jobs", "retry", "--status", "failed"], false)]
    #[case::another_fault(&["drover", "tasks", "retry", "seven"], false)]
    fn a_filter_for_ids_is_answered_with_the_command_that_takes_it(#[case] args: &[&str], #[case] named: bool) {
        let error = crate::cli::command().try_get_matches_from(args).unwrap_err();
        let text = naming_bulk(error).render().to_string();
        assert_eq!(text.contains("drover tasks bulk"), named, "{text}");
    }
}
