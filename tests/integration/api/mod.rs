//! The HTTP API through a real socket, on a real database; and the commands that show the same.

mod access;
mod attack;
mod canaries;
mod capacity;
mod changes;
mod commands;
mod consumers;
mod demo;
mod generation;
mod geo;
mod house_rules;
mod job_queue;
mod jobs;
mod legacy;
mod openapi;
mod operations;
mod probes;
mod proxies;
mod read_commands;
mod reads;
mod schedules;
pub mod server;
mod stream;
mod task_changes;
mod tasks;
mod worker_commands;
mod worker_reports;
