//! `drover worker`: runs one pod of workers, without API and schedules.

use super::service::{self, Http, Look};
use super::{Env, ExitCode, values};
use crate::actors::names;
use crate::actors::plan::{Follows, Plan};
use crate::app::predecessors;
use db::Db;
use domain::task::role::RoleSet;
use settings::Flag;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Roles to claim: `any` (all crawl roles), `media`, or a list such as payload_fetch,product_refresh
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Number of workers in this pod [default: topology.workers_per_pod, or media.workers with media roles]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(1..=u16::MAX))]
    workers: Option<u16>,
    /// Number of tasks that each worker runs at once [default: topology.slots, or media.slots with media roles]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(1..=u16::MAX))]
    slots: Option<u16>,
    /// Log a line for each task on a terminal instead of the status line
    #[arg(long, short)]
    pub verbose: bool,
}

impl Args {
    pub fn flags(&self) -> Vec<Flag> {
        let flag = |name, key, value: &Option<String>| value.clone().map(|value| Flag { name, key, value });
        let number = |given: Option<u16>| given.map(|n| n.to_string());
        [
            flag("--role", "worker.role", &self.role),
            flag("--workers", "topology.workers_per_pod", &number(self.workers)),
            flag("--workers", "media.workers", &number(self.workers)),
            flag("--slots", "topology.slots", &number(self.slots)),
            flag("--slots", "media.slots", &number(self.slots)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Http::Nothing, Look::of(args.verbose), async |db| plan(env, db).await).await
}

async fn plan(env: &Env, db: &Db) -> anyhow::Result<Plan> {
    require_proxies(env, db).await?;
    let host = &env.config.worker.host;
    predecessors::take_over(db, host).await?;
    let choose = |in_use: &[String]| names::own_pod(&env.config, host, in_use).map(|pod| vec![pod]);
    let pods = names::take(db, host, choose).await?;
    Ok(Plan { schedules: false, pods, follows: Follows::Workers })
}

/// A worker whose roles need a proxy does not start without one that is switched on.
async fn require_proxies(env: &Env, db: &Db) -> anyhow::Result<()> {
    let roles: RoleSet = env.config.worker.role.parse()?;
    match roles.needs_proxy() || roles.is_media() && env.config.media.use_proxies {
        true => service::require_proxies(db).await,
        false => Ok(()),
    }
}
