//! Everything that needs a database, a socket or a process, in one binary, so that it links once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod api;
mod beats;
mod blame;
mod cancelled_runs;
mod chores;
mod claimer;
mod clock_jump;
mod command_line;
mod dashboard;
mod deadlines;
mod downloads;
mod drain;
mod explain;
mod floods;
mod frozen;
mod geo;
mod handlers;
mod hosts;
mod kill;
mod listen;
mod lost_commits;
mod migrate;
mod outage;
mod pauses;
mod pinned_plans;
mod platforms;
mod private_server;
mod promises;
mod proxies;
mod quality;
mod queue;
mod reads;
mod replays;
mod robots;
mod roles;
mod same_slot;
mod signals;
mod statements;
mod stats;
mod stealth;
mod stores_command;
mod suite;
mod supervision;
mod tls;
