//! Endpoints of notifications: the addresses to which ends of jobs are sent.

use chrono::{DateTime, Utc};

use super::record::record;
use super::{Fields, yes};
use crate::checks::{BadField, bad, check_text};
use domain::notification::{BadTarget, EndpointKind, MAX_TARGET, Target};
use domain::vocabulary::Word;

record! {
    Endpoints: Endpoint {
        name: String,
        #[schema(value_type = EndpointKind)]
        kind: Word<EndpointKind>,
        target: String,
        credential_id: Option<i64>,
        /// A webhook is signed with it, too.
        previous_credential_id: Option<i64>,
        enabled: bool,
        /// Why the sender disabled it; null: it did not.
        disabled_reason: Option<String>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
    }
    draft EndpointDraft {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        name: String,
        kind: EndpointKind,
        /// The address of a webhook or of a topic of ntfy, or a mail server with a sender and recipients:
        /// `smtps://mail.example.org/?from=a@example.org&to=b@example.org` (`smtp://` for STARTTLS).
        #[schema(min_length = 1, max_length = 2048, example = "https://example.org/hooks/drover")]
        target: String,
        /// A webhook: its secret, as a token (`whsec_…`). Mail: user name and password. ntfy: a token.
        #[schema(minimum = 1)]
        credential_id: Option<i64>,
        /// The secret that a webhook had before.
        #[schema(minimum = 1)]
        previous_credential_id: Option<i64>,
        #[serde(default = "yes")]
        #[schema(default = true)]
        enabled: bool,
    }
    /// A change of the kind requires another endpoint.
    change EndpointChange {
        #[schema(min_length = 1, max_length = 2048)]
        target: String,
        /// Null removes it.
        #[schema(minimum = 1)]
        credential_id: Option<i64>,
        /// Null removes it.
        #[schema(minimum = 1)]
        previous_credential_id: Option<i64>,
        enabled: bool,
    }
}

impl Fields for EndpointDraft {
    fn check(&self) -> Result<(), BadField> {
        check_text("name", Some(&self.name))?;
        Target::parse(self.kind, &self.target).map_err(|fault| bad("target", fault))?;
        check_credentials(self.credential_id, self.previous_credential_id)?;
        match self.kind == EndpointKind::Webhook && self.credential_id.is_none() {
            true => Err(bad("credential_id", "missing: a webhook is signed with the secret of a credential")),
            false => Ok(()),
        }
    }
}

impl Fields for EndpointChange {
    /// The kind, and so whether a target fits it, is the row's.
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("enabled")?;
        if self.target.as_ref().is_some_and(|target| target.len() > MAX_TARGET) {
            return Err(bad("target", BadTarget::TooLong));
        }
        check_credentials(self.credential_id.flatten(), self.previous_credential_id.flatten())
    }
}

fn check_credentials(current: Option<i64>, previous: Option<i64>) -> Result<(), BadField> {
    let is_id = |id: Option<i64>| id.is_none_or(|id| id > 0);
    match (is_id(current), is_id(previous)) {
        (false, _) => Err(bad("credential_id", "must be the id of a credential")),
        (_, false) => Err(bad("previous_credential_id", "must be the id of a credential")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::a_webhook(json!({"name": "a", "kind": "webhook", "target": "https://a.example/", "credential_id": 1}), None)]
    #[case::unsigned(json!({"name": "a", "kind": "webhook", "target": "https://a.example/"}), Some("credential_id"))]
    #[case::a_file(json!({"name": "a", "kind": "webhook", "target": "file:///etc/passwd", "credential_id": 1}), Some("target"))]
    #[case::no_topic(json!({"name": "a", "kind": "ntfy", "target": "https://ntfy.sh"}), Some("target"))]
    #[case::no_name(json!({"name": "", "kind": "ntfy", "target": "https://ntfy.sh/a"}), Some("name"))]
    #[case::no_id(json!({"name": "a", "kind": "ntfy", "target": "https://ntfy.sh/a", "previous_credential_id": 0}), Some("previous_credential_id"))]
    fn an_endpoint_is_checked(#[case] draft: Value, #[case] fault: Option<&str>) {
        let draft: EndpointDraft = serde_json::from_value(draft).unwrap();
        assert_eq!(draft.check().err().map(|bad| bad.field), fault);
    }

    #[test]
    fn a_target_that_no_row_can_hold_is_refused() {
        let change = EndpointChange { target: Some("x".repeat(2049)), ..EndpointChange::default() };
        assert_eq!(change.check().err().map(|bad| bad.field), Some("target"));
    }

    #[test]
    fn a_credential_can_be_taken_away() {
        let change: EndpointChange = serde_json::from_value(json!({"previous_credential_id": null})).unwrap();
        change.check().unwrap();
        assert_eq!(serde_json::to_value(change).unwrap(), json!({"previous_credential_id": null}));
    }
}
