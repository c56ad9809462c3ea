//! Files below `deploy/`, each read by the program for which it is written. `./dev ops-test` installs these programs and runs this.

mod kubernetes;
mod prometheus;
mod systemd;
