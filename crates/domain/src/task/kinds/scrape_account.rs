//! `scrape_account`: lists the media of an account.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{Key, Kind};

pub const KIND: Kind = Kind {
    key: Key { account: Some("username"), ..Key::NONE },
    title: "Scrape Account",
    description: "Lists the media of an account",
    ..Kind::MEDIA
};

/// Lists the media of an account. The username is the task's account where it is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {
    pub username: Option<String>,
    /// None: the default.
    pub scrape_type: Option<ScrapeType>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScrapeType {
    /// Stops after items that are known.
    #[default]
    Recent,
    Full,
}
