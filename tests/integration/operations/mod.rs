//! Files below `deploy/`, each read by the program for which it is written, and crawls beside the programs
//! of a real deployment. `./dev ops-test` installs these programs and runs this.

mod compose;
mod container;
mod failover;
mod grafana;
mod killed_process;
mod kubernetes;
mod monitored_farm;
mod pgbouncer;
mod prometheus;
mod release;
mod systemd;

fn text_of(path: &str) -> String {
    std::fs::read_to_string(testkit::root().join(path)).unwrap()
}
