//! Tables of media jobs: what is watched, the accounts, and the items found and downloaded. The jobs themselves are
//! tasks ([`crate::tasks::jobs`]).

pub mod accounts;
pub mod appearances;
pub mod channels;
pub mod forum_posts;
pub mod forums;
pub mod items;
pub mod records;
pub mod saved_searches;
pub mod threads;
