//! Notifications of ended jobs: which rows there are, how they are sent, and how people see them.

mod deliveries;
mod kill;
mod odd_receivers;
mod people;
mod rows;
pub mod tools;
