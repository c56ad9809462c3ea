//! Files below `deploy/`, each read by the program for which it is written. `./dev ops-test` installs these programs and runs this.

mod compose;
mod container;
mod grafana;
mod kubernetes;
mod monitored_farm;
mod prometheus;
mod systemd;

fn text_of(path: &str) -> String {
    std::fs::read_to_string(testkit::root().join(path)).unwrap()
}
