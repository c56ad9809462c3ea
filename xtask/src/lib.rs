//! Chores of the repository that need more than a shell script. Knows nothing of drover's code: only
//! addresses of its pages.

pub mod browser;
pub mod look;
pub mod pages;
