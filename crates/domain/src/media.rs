//! Media jobs: accounts, forums, appearances, and the items that they find.

pub mod account;
pub mod appearance;
pub mod forum;
pub mod item;
