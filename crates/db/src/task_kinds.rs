//! The table `task_kinds`, and the triggers that make schedules of kinds: the statements that write both from the program's kinds, for
//! `migrate`.
//!
//! In: [`Role::kind`]. Out: SQL that adds or changes the rows of these roles; a row of a newer program's role stays.

use domain::kind::Schedule;
use domain::role::Role;
use strum::VariantArray;

/// The name of these statements among the objects of the schema.
pub const NAME: &str = "task_kinds";

pub fn sql() -> String {
    let roles = || Role::VARIANTS.iter().copied();
    let rows: Vec<String> = roles().map(row).collect();
    let triggers: String =
        roles().flat_map(|role| role.kind().schedules.iter().map(move |each| trigger(role, each))).collect();
    format!(
        "INSERT INTO task_kinds (name, family, notifies, account_arg, key_arg) VALUES\n  {}\n\
         ON CONFLICT (name) DO UPDATE SET family = excluded.family, notifies = excluded.notifies,\n  \
         account_arg = excluded.account_arg, key_arg = excluded.key_arg;\n{triggers}",
        rows.join(",\n  ")
    )
}

fn row(role: Role) -> String {
    let kind = role.kind();
    let (name, family) = (text(Some(role.name())), text(Some(kind.family.name())));
    format!("({name}, {family}, {}, {}, {})", kind.notifies, text(kind.key.account), text(kind.key.told_apart_by))
}

/// Nothing for a schedule that is made at the first start.
fn trigger(role: Role, schedule: &Schedule) -> String {
    let Schedule::WithRows { table, event, only, hours } = schedule else { return String::new() };
    let when = only.map(|only| format!(" WHEN ({only})")).unwrap_or_default();
    format!(
        "CREATE OR REPLACE TRIGGER add_schedule AFTER {event} ON {table}\n  \
         FOR EACH ROW{when} EXECUTE FUNCTION add_media_schedule({}, '{hours}');\n",
        text(Some(role.name()))
    )
}

/// A literal of words that the program itself declares.
fn text(word: Option<&'static str>) -> String {
    word.map_or_else(|| "NULL".to_owned(), |word| format!("'{}'", word.replace('\'', "''")))
}
