//! The table `task_kinds`: the statement that fills it from the program's roles, for `migrate`.
//!
//! In: [`Role::spec`]. Out: SQL that adds or changes the rows of these roles; a row of a newer program's role stays.

use domain::role::Role;
use strum::VariantArray;

/// The statement's name among the objects of the schema.
pub const NAME: &str = "task_kinds";

pub fn sql() -> String {
    let rows: Vec<String> = Role::VARIANTS.iter().map(|role| row(*role)).collect();
    format!(
        "INSERT INTO task_kinds (name, family, notifies, account_arg, key_arg) VALUES\n  {}\n\
         ON CONFLICT (name) DO UPDATE SET family = excluded.family, notifies = excluded.notifies,\n  \
         account_arg = excluded.account_arg, key_arg = excluded.key_arg",
        rows.join(",\n  ")
    )
}

fn row(role: Role) -> String {
    let spec = role.spec();
    let (name, family) = (text(Some(role.name())), text(Some(spec.family.name())));
    format!("({name}, {family}, {}, {}, {})", spec.notifies, text(spec.key.account), text(spec.key.told_apart_by))
}

/// A literal of words that the program itself declares.
fn text(word: Option<&'static str>) -> String {
    word.map_or_else(|| "NULL".to_owned(), |word| format!("'{}'", word.replace('\'', "''")))
}
