//! `paid_content_sync`: syncs creators, one job each, and sums these up.
//!
//! In: ids of creators, or none for all that are enabled. Out: first, a job for each; when all have ended, the counts.
//! It fails only where every creator did.

use std::collections::HashSet;

use serde_json::json;

use crate::handlers::Context;
use db::media::accounts::Creator;
use db::tasks::AwaitedChild;
use domain::task::Status;
use domain::task::kinds::paid_content_sync::Args;
use domain::task::role::Role;
use domain::vocabulary::Word;
use queue::{Done, FollowUp, MAX_CHILDREN, Outcome, TaskError};

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let children = ctx.children().await?;
    let asked = match Asked::read(ctx, args.creator_ids).await {
        // they were removed while their jobs ran
        Err(TaskError::Permanent { .. }) if !children.is_empty() => Asked::default(),
        asked => asked?,
    };
    if !children.is_empty() {
        return Ok(sum(&children, &asked).into());
    }
    let jobs: Vec<FollowUp> = asked.creators.iter().filter(|creator| creator.enabled).map(job).collect();
    match jobs.is_empty() {
        true => Ok(sum(&[], &asked).into()),
        false => Ok(Outcome::wait_for(jobs).into()),
    }
}

/// The creators of a job.
#[derive(Default)]
struct Asked {
    creators: Vec<Creator>,
    /// Number of ids that no creator has.
    unknown: usize,
}

impl Asked {
    async fn read(ctx: &Context, ids: Option<Vec<i64>>) -> Result<Asked, TaskError> {
        let client = ctx.services.db.client().await?;
        let Some(ids) = ids else {
            let creators = db::media::accounts::creators(&client, None, MAX_CHILDREN as i64).await?;
            return Ok(Asked { creators, unknown: 0 });
        };
        let ids: Vec<i64> = ids.into_iter().collect::<HashSet<_>>().into_iter().collect();
        if ids.len() > MAX_CHILDREN {
            return Err(TaskError::permanent(format!("{} creators; the maximum is {MAX_CHILDREN}", ids.len())));
        }
        let creators = db::media::accounts::creators(&client, Some(&ids), MAX_CHILDREN as i64).await?;
        if creators.is_empty() && !ids.is_empty() {
            return Err(TaskError::permanent(
                "no creator has one of these ids: `drover media list accounts` lists them",
            ));
        }
        Ok(Asked { unknown: ids.len() - creators.len(), creators })
    }
}

fn job(creator: &Creator) -> FollowUp {
    FollowUp {
        platform: Some(creator.platform.clone()),
        account: Some(creator.username.clone()),
        ..FollowUp::new(Role::PaidContentCreator, json!({"creator_id": creator.id}))
    }
}

fn sum(children: &[AwaitedChild], asked: &Asked) -> Done {
    let number = |status: Status| {
        let has = |child: &&AwaitedChild| child.status == Some(Word::Known(status));
        children.iter().filter(has).count()
    };
    let completed = number(Status::Completed);
    let files = |child: &AwaitedChild| child.result.as_ref().and_then(|result| result["files"].as_u64());
    let done = Outcome::done(json!({
        "creators": children.len(),
        "completed": completed,
        "failed": number(Status::Failed),
        // cancelled or deleted
        "left": children.len() - completed - number(Status::Failed),
        "disabled": asked.creators.iter().filter(|creator| !creator.enabled).count(),
        "unknown": asked.unknown,
        "files": children.iter().filter_map(files).sum::<u64>(),
    }));
    if children.is_empty() || completed > 0 {
        return done;
    }
    let reason = children.iter().find_map(|child| child.error_message.as_deref());
    let first = reason.map_or_else(String::new, |reason| format!("; the first: {reason}"));
    done.failing(format!("none of {} creators was synced{first}", children.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(status: Status, error: Option<&str>) -> AwaitedChild {
        AwaitedChild {
            id: 1,
            status: Some(Word::Known(status)),
            result: (status == Status::Completed).then(|| json!({"files": 3})),
            error_message: error.map(str::to_owned),
        }
    }

    #[test]
    fn creators_are_summed_up_and_one_that_fails_fails_no_other() {
        let children =
            [child(Status::Completed, None), child(Status::Failed, Some("away")), child(Status::Completed, None)];
        let done = sum(&children, &Asked { unknown: 2, ..Asked::default() });
        let expected =
            json!({"creators": 3, "completed": 2, "failed": 1, "left": 0, "disabled": 0, "unknown": 2, "files": 6});
        assert_eq!((done.failure, done.result), (None, expected));
    }

    #[test]
    fn a_sync_of_which_every_creator_fails_fails_with_the_first_reason() {
        let children = [child(Status::Failed, Some("away")), child(Status::Cancelled, None)];
        let done = sum(&children, &Asked::default());
        assert_eq!(done.failure.as_deref(), Some("none of 2 creators was synced; the first: away"));
    }

    #[test]
    fn nothing_to_sync_is_done() {
        assert_eq!(sum(&[], &Asked::default()).failure, None);
    }
}
