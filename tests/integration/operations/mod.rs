//! Files below `deploy/`, each read by the program for which it is written. `./dev ops-test` installs these programs and runs this.

mod container;
mod kubernetes;
mod prometheus;
mod systemd;
