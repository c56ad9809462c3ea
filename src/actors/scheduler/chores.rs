//! The chores of a process, one file each: its scope, its interval, and one turn of it. The list makes [`Chore`] of them.
//!
//! In: a [`Turn`]. Out: how much it changed. It must not know when or how often a turn runs.

mod files;
mod indexes;
mod media_work;
mod operations;
mod partitions;
mod pauses;
mod prune;
mod quality;
pub mod recover;
mod registry;
mod retention;
mod schedules;
mod search;
mod stats;
mod storage;
mod sweep_all;
mod sweep_due;
mod totals;

use std::time::Duration;

use strum::{EnumIter, IntoStaticStr};

use super::chore::{Changed, Scope, Turn};
use settings::Config;

/// Makes [`Chore`] of the files, in this order.
macro_rules! chores {
    ($($chore:ident($file:ident),)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, IntoStaticStr)]
        #[strum(serialize_all = "snake_case")]
        pub enum Chore {
            $($chore,)+
        }

        impl Chore {
            pub fn scope(self) -> Scope {
                match self {
                    $(Chore::$chore => $file::SCOPE,)+
                }
            }

            /// Time between two turns.
            pub fn interval(self, config: &Config) -> Duration {
                match self {
                    $(Chore::$chore => $file::interval(config),)+
                }
            }

            pub(super) async fn turn(self, turn: Turn<'_>) -> Changed {
                match self {
                    $(Chore::$chore => $file::turn(turn).await,)+
                }
            }
        }
    };
}

chores! {
    SweepDue(sweep_due),
    SweepAll(sweep_all),
    Pauses(pauses),
    Recover(recover),
    Registry(registry),
    Totals(totals),
    Stats(stats),
    Prune(prune),
    Files(files),
    Retention(retention),
    Partitions(partitions),
    Search(search),
    Quality(quality),
    MediaWork(media_work),
    Schedules(schedules),
    Operations(operations),
    Indexes(indexes),
    Storage(storage),
}

impl Chore {
    /// Name in metrics and the log.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
