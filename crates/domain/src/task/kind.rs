//! `Kind`: the facts about the tasks of one role.
//!
//! In: nothing. Out: a constant of each file of `kinds`, with its family's defaults. It must not know a role's name.

use std::time::Duration;

use crate::store::Platform;
use crate::task::role::Role;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The roles that a worker claims when its roles are not listed one by one.
    pub enum Family {
        /// Menus of stores; `WORKER_ROLE` empty or `any`.
        Crawl,
        /// Accounts and media; `WORKER_ROLE=media`.
        Media,
        /// Work for both, which workers of either claim.
        Service,
    }
}

/// Facts about each task of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Never changes for a kind: rows of the queue hold it.
    pub family: Family,
    /// A task belongs to one store.
    pub per_store: bool,
    /// Its body asks the menu platform, which no request does without a proxy.
    pub needs_proxy: bool,
    /// Priority of a task that names none; higher runs first.
    pub priority: i32,
    /// A body that runs longer is a failed attempt.
    pub time_limit: Duration,
    /// How long a body that is stopped from outside may take to end by itself, before it is aborted.
    pub stop_grace: Duration,
    /// How long its tasks may wait without a run that does something; None: as long as the configuration says.
    pub snooze_limit: Option<Duration>,
    /// The end of a job, or the failure of a crawl, is an event that people may be notified of.
    pub notifies: bool,
    /// The key of a task without a store: two with the same key are never open together.
    pub key: Key,
    /// The role of the tasks that a completed one makes, where it is one.
    pub follow_up: Option<Role>,
    /// Text for people about where its tasks come from, such as "after a fetch"; None if a schedule makes them.
    pub origin: Option<&'static str>,
    pub schedules: &'static [Schedule],
    /// The name for people.
    pub title: &'static str,
    pub description: &'static str,
}

/// Arguments in a task's key, beside its role, platform and account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name of the argument that stands for the account of a task without one.
    pub account: Option<&'static str>,
    /// Name of the argument that distinguishes tasks of one account.
    pub argument: Option<&'static str>,
}

/// A schedule that drover makes by itself, once: an operator may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// A schedule from the first start on.
    Always(DefaultSchedule),
    /// A schedule that is made with the first row of a table, so that a role without rows is never due. Its name is the role's.
    WithRows {
        table: &'static str,
        /// The change of the table, in SQL: INSERT.
        event: &'static str,
        /// A condition on the row, in SQL.
        only: Option<&'static str>,
        hours: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultSchedule {
    pub name: &'static str,
    pub hours: u32,
    pub priority: i32,
}

/// A default schedule of one platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlatformSchedule {
    pub platform: Platform,
    pub role: Role,
    pub schedule: DefaultSchedule,
}

impl Kind {
    /// Shared by most crawl roles.
    pub const CRAWL: Kind = Kind {
        family: Family::Crawl,
        per_store: true,
        needs_proxy: true,
        priority: 0,
        time_limit: minutes(15),
        stop_grace: Duration::ZERO,
        snooze_limit: None,
        notifies: true,
        key: Key::NONE,
        follow_up: None,
        origin: None,
        schedules: &[],
        title: "",
        description: "",
    };

    /// Shared by most media roles.
    pub const MEDIA: Kind = Kind {
        family: Family::Media,
        per_store: false,
        needs_proxy: false,
        priority: 5,
        time_limit: minutes(6 * 60),
        // a tool gets SIGTERM, and SIGKILL 10 s later
        stop_grace: Duration::from_secs(15),
        ..Kind::CRAWL
    };

    /// Shared by services.
    pub const SERVICE: Kind =
        Kind { family: Family::Service, per_store: false, needs_proxy: false, notifies: false, ..Kind::CRAWL };
}

impl Key {
    pub const NONE: Key = Key { account: None, argument: None };
}

impl Schedule {
    /// A schedule every `hours` that is made with the first row of `table`.
    pub const fn with_rows(table: &'static str, hours: u32) -> Schedule {
        Schedule::WithRows { table, event: "INSERT", only: None, hours }
    }
}

impl DefaultSchedule {
    pub const fn new(name: &'static str, hours: u32) -> DefaultSchedule {
        DefaultSchedule { name, hours, priority: 0 }
    }
}

pub const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}
