//! `drover tasks generate` and `recover`: makes the tasks of many stores, or puts tasks back whose workers
//! are gone.

use chrono::NaiveDate;
use clap::Subcommand;

use crate::app::predecessors::{self, Recovered};
use crate::cli::{Env, ExitCode, enqueue, time, values};
use contract::generation::{DiscoveryRequest, RecoveryRequest, Resync, ResyncRequest, StateRequest, StateTasks};
use contract::task_requests::RequestedTask;
use contract::tasks::{Recovery, WaitingLeases};
use domain::amounts::counted;
use domain::store::state_code::StateCode;

#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// Create one crawl for each store, in batches over a day. Stores with an open crawl are skipped
    Resync {
        /// Number of batches, from 1 to 24 [default: 6]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
        batches: Option<i64>,
        /// Day of the crawls in UTC, such as 2025-01-10 [default: today]
        #[arg(long)]
        date: Option<NaiveDate>,
        /// Only stores in this state, such as AZ
        #[arg(long)]
        state: Option<StateCode>,
    },
    /// Create one task for each store of a state that can be crawled, to run now
    State {
        /// State, two letters such as AZ
        state: StateCode,
        /// Role of the tasks [default: payload_fetch]
        #[arg(long)]
        role: Option<String>,
        /// Priority from -1000 to 1000; higher runs first [default: the role's]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
        priority: Option<i64>,
    },
    /// Create a task that searches a platform for stores
    Discovery {
        /// Menu platform
        #[arg(long)]
        platform: String,
        /// Only stores in this state, such as AZ
        #[arg(long)]
        state: Option<StateCode>,
    },
}

#[derive(Debug, clap::Args)]
pub struct Recover {
    /// Also put tasks back without a heartbeat for this number of minutes [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
    minutes: Option<i64>,
}

/// Fields of requests that a flag of another name sets.
const FLAGS: [(&str, &str); 3] = [("batches_per_day", "--batches"), ("state_code", "--state"), ("payload", "--state")];

pub async fn run(command: GenerateCommand, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    match command {
        GenerateCommand::Resync { batches, date, state } => {
            let request = ResyncRequest { batches_per_day: batches, date, state_code: state };
            let made: Resync = api.naming(&FLAGS).post("/api/tasks/generate/resync", &request).await?;
            env.out.either(&made, resync_text)?;
        }
        GenerateCommand::State { state, role, priority } => {
            let request = StateRequest { state_code: state, role, priority };
            let api = api.naming(&[("state_code", "STATE"), ("payload", "--state")]);
            let made: StateTasks = api.post("/api/job-queue/enqueue-state", &request).await?;
            env.out.either(&made, state_text)?;
        }
        GenerateCommand::Discovery { platform, state } => {
            let request = DiscoveryRequest { platform, state_code: state };
            let task: RequestedTask = api.naming(&FLAGS).post("/api/tasks/generate/discovery", &request).await?;
            env.out.either(&task, enqueue::text)?;
        }
    }
    Ok(ExitCode::Ok)
}

pub async fn recover(Recover { minutes }: Recover, env: &Env) -> anyhow::Result<ExitCode> {
    let ended = match env.is_remote() {
        true => Recovered::default(),
        false => predecessors::recover(&env.db().await?.client().await?, &env.config.worker.host).await?,
    };
    let request = RecoveryRequest { threshold_minutes: minutes };
    let api = env.api().await?.naming(&[("threshold_minutes", "--minutes")]);
    let mut recovered: Recovery = api.post("/api/tasks/recover-stale", &request).await?;
    recovered.counts.requeued += ended.requeued;
    recovered.counts.failed += ended.failed;
    env.out.either(&recovered, recovered_text)?;
    Ok(ExitCode::Ok)
}

fn recovered_text(Recovery { counts, waiting }: &Recovery) -> String {
    let text =
        format!("{} put back into the queue, {} failed permanently", counted(counts.requeued, "task"), counts.failed);
    match waiting {
        WaitingLeases { waiting: 1, waiting_until: Some(until) } => {
            format!("{text}\n1 task of a worker that is gone waits until its lease ends, at {}", time(*until))
        }
        WaitingLeases { waiting, waiting_until: Some(until) } => format!(
            "{text}\n{waiting} tasks of workers that are gone wait until their leases end, the last one at {}",
            time(*until)
        ),
        WaitingLeases { waiting_until: None, .. } => text,
    }
}

fn resync_text(made: &Resync) -> String {
    let slots = match (made.first_slot, made.last_slot) {
        (Some(first), Some(last)) => format!(", from {} to {}", time(first), time(last)),
        _ => String::new(),
    };
    format!("{}{slots}", text(made.count, made.skipped))
}

fn state_text(made: &StateTasks) -> String {
    match made.raised {
        0 => text(made.count, made.skipped),
        raised => format!("{}; priority of {} raised", text(made.count, made.skipped), counted(raised, "waiting task")),
    }
}

fn text(count: i32, skipped: i32) -> String {
    match skipped {
        0 => format!("{} created", counted(count, "task")),
        skipped => {
            format!("{} created; {} skipped because of an open task", counted(count, "task"), counted(skipped, "store"))
        }
    }
}
