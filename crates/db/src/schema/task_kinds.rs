//! The table `task_kinds`, and the triggers that make schedules of kinds: the call that writes both from the program's kinds, for
//! `migrate`.
//!
//! In: [`Role::kind`]. Out: a call of `set_task_kinds` (objects/01_task_kinds.sql), which is repeated when a kind has changed.

use domain::task::kind::Schedule;
use domain::task::role::Role;
use serde_json::{Value, json};
use strum::VariantArray;

/// The name of the call among the objects of the schema.
pub const NAME: &str = "task_kinds";

pub fn sql() -> String {
    let kinds: Vec<Value> = Role::VARIANTS.iter().copied().map(kind).collect();
    format!("SELECT set_task_kinds('{}')", Value::Array(kinds).to_string().replace('\'', "''"))
}

fn kind(role: Role) -> Value {
    let kind = role.kind();
    json!({
        "name": role,
        "family": kind.family,
        "notifies": kind.notifies,
        "account_arg": kind.key.account,
        "key_arg": kind.key.argument,
        "schedules": kind.schedules.iter().filter_map(schedule_with_rows).collect::<Vec<_>>(),
    })
}

/// None for a schedule that is made at the first start.
fn schedule_with_rows(schedule: &Schedule) -> Option<Value> {
    let Schedule::WithRows { table, event, only, hours } = schedule else { return None };
    Some(json!({ "of": table, "event": event, "condition": only, "hours": hours }))
}
