//! Permissions of requests: access roles, and the principal that makes a request.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::vocabulary::{from_text, vocabulary};

vocabulary! {
    /// Permissions of a caller. Each role includes the roles before it.
    pub enum AccessRole {
        /// Reads products, stores, histories and images: the server of a public price site.
        Consumer,
        /// Reads everything but settings and tokens.
        Viewer,
        /// Changes tasks, schedules, stores and jobs.
        Operator,
        /// Changes everything.
        Admin,
    }
}

from_text! { AccessRole: UnknownAccessRole, "access role", "access roles" }

pub type TokenId = i64;

/// The caller of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// A token's name, or [`Principal::LOCAL`], [`Principal::COMMAND_LINE`] or [`Principal::CRAWL`].
    pub name: String,
    pub role: AccessRole,
    pub token: Option<TokenId>,
    /// None on the command line, and for a task.
    pub address: Option<String>,
}

impl Principal {
    /// Name of a caller without a token, on this machine.
    pub const LOCAL: &str = "local";
    pub const COMMAND_LINE: &str = "command line";
    /// Name of the tasks themselves.
    pub const CRAWL: &str = "a crawl";

    /// A caller on this machine, while there are no tokens.
    pub fn local(address: Option<String>) -> Self {
        Principal { name: Principal::LOCAL.to_owned(), role: AccessRole::Admin, token: None, address }
    }

    /// A caller with access to the database itself.
    pub fn command_line() -> Self {
        Principal { name: Principal::COMMAND_LINE.to_owned(), role: AccessRole::Admin, token: None, address: None }
    }

    /// A task, for changes that no person asked for.
    pub fn crawl() -> Self {
        Principal { name: Principal::CRAWL.to_owned(), ..Principal::command_line() }
    }

    pub fn may(&self, needed: AccessRole) -> bool {
        self.role >= needed
    }
}

impl Display for Principal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A change that was asked for, as `audit_log` keeps it.
#[derive(Clone, Debug, Serialize)]
pub struct AuditEntry {
    /// `tasks.create`, `tokens.revoke`: the resource and the verb.
    pub action: &'static str,
    /// The resource's id or name.
    pub target: String,
    /// Details of the change, without secrets.
    pub detail: serde_json::Value,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::its_own(AccessRole::Operator, AccessRole::Operator, true)]
    #[case::a_smaller_one(AccessRole::Operator, AccessRole::Consumer, true)]
    #[case::a_greater_one(AccessRole::Viewer, AccessRole::Operator, false)]
    fn a_role_includes_the_roles_before_it(#[case] role: AccessRole, #[case] needed: AccessRole, #[case] may: bool) {
        assert_eq!(Principal { role, ..Principal::command_line() }.may(needed), may);
    }

    #[test]
    fn a_caller_is_shown_by_its_name() {
        assert_eq!(Principal::local(Some("127.0.0.1".to_owned())).to_string(), "local");
    }
}
