//! `notify`: sends the notifications of an endpoint.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::task::kind::{Key, Kind, minutes};

pub const KIND: Kind = Kind {
    priority: 10,
    // a mail server may take ten minutes to answer a mail
    time_limit: minutes(60),
    // an answer that is on its way is waited for
    stop_grace: Duration::from_secs(15),
    // as long as its receiver asks
    snooze_limit: Some(minutes(366 * 24 * 60)),
    key: Key { account: Some("endpoint_id"), ..Key::NONE },
    title: "Notify",
    description: "Sends the notifications of an endpoint",
    ..Kind::SERVICE
};

/// The endpoint whose notifications are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Args {
    pub endpoint_id: i64,
}
