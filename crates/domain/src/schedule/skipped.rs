//! `Skipped`: the stores that a run of a schedule made no task for, counted by reason.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::amounts::counted;

/// A reason that no store has is 0. Without stores, `open_task` is 1 where such a task is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Skipped {
    /// Stores with an open task of that role, due before the schedule's next run.
    pub open_task: i64,
    /// A group that it is in has a schedule of its own.
    pub own_group: i64,
    /// Stores that are switched off.
    pub disabled: i64,
    /// Its id on the platform is not known yet.
    pub no_platform_id: i64,
}

impl Skipped {
    /// Why a run made no task.
    pub fn why_nothing(&self, per_store: bool) -> String {
        match (per_store, *self == Skipped::default()) {
            (false, _) => "such a task is queued or running already".to_owned(),
            (true, true) => "no store is in its platform, state and group".to_owned(),
            (true, false) => self.reasons(),
        }
    }

    fn reasons(&self) -> String {
        let Skipped { open_task, own_group, disabled, no_platform_id } = *self;
        let reasons = [
            (open_task, "with such a task queued or running already"),
            (own_group, "left to the schedule of a group"),
            (disabled, "switched off"),
            (no_platform_id, "without a platform id"),
        ];
        let named = reasons
            .iter()
            .filter(|(stores, _)| *stores > 0)
            .map(|(stores, reason)| format!("{} {reason}", counted(*stores, "store")));
        named.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::no_store(Skipped::default(), true, "no store is in its platform, state and group")]
    #[case::open(Skipped { open_task: 1, ..Skipped::default() }, true, "1 store with such a task queued or running already")]
    #[case::several(
        Skipped { own_group: 55, disabled: 1, ..Skipped::default() },
        true,
        "55 stores left to the schedule of a group, 1 store switched off"
    )]
    #[case::without_stores(Skipped { open_task: 1, ..Skipped::default() }, false, "such a task is queued or running already")]
    fn a_run_without_tasks_says_why(#[case] skipped: Skipped, #[case] per_store: bool, #[case] why: &str) {
        assert_eq!(skipped.why_nothing(per_store), why);
    }
}
