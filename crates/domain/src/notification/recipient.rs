//! `Recipients`: how a mail was answered for each of its recipients. Pure.
//!
//! In: replies of a mail server. Out: the recipients that no longer need the mail, and a text that names the ones without it. It must not
//! know SMTP.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::vocabulary::{Word, vocabulary};

vocabulary! {
    pub enum RecipientState {
        /// Has the mail, which is not sent to it again.
        Delivered,
        /// Refused for good.
        Refused,
        /// Refused for now, and tried again.
        Waiting,
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Recipient {
    #[schema(value_type = RecipientState)]
    pub state: Word<RecipientState>,
    /// SMTP code of the reply that decided.
    pub status: u16,
    /// Text of that reply.
    pub text: String,
}

/// Recipients by address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Recipients(pub BTreeMap<String, Recipient>);

/// Maximum bytes of the text that names recipients.
const MAX_FAULTS: usize = 1_500;

impl Recipient {
    pub fn new(state: RecipientState, status: u16, text: String) -> Recipient {
        Recipient { state: Word::Known(state), status, text }
    }
}

impl Recipients {
    /// Whether the mail is not sent to this address any more.
    pub fn is_settled(&self, address: &str) -> bool {
        self.0.get(address).is_some_and(|known| known.state != Word::Known(RecipientState::Waiting))
    }

    pub fn has_delivery(&self) -> bool {
        self.0.values().any(|known| known.state == Word::Known(RecipientState::Delivered))
    }

    pub fn is_waiting(&self) -> bool {
        self.0.values().any(|known| known.state == Word::Known(RecipientState::Waiting))
    }

    /// Adds the answers of one more try. A delivery stays one.
    pub fn updated(mut self, by: Recipients) -> Recipients {
        for (address, answer) in by.0 {
            let delivered = Word::Known(RecipientState::Delivered);
            if self.0.get(&address).is_none_or(|known| known.state != delivered) {
                self.0.insert(address, answer);
            }
        }
        self
    }

    /// Each recipient without the mail, with code and text: `bea@c.example: 550 no such user`. None: all have it.
    pub fn faults(&self) -> Option<String> {
        let without = self.0.iter().filter(|(_, known)| known.state != Word::Known(RecipientState::Delivered));
        let named = without.map(|(address, Recipient { state, status, text })| {
            let for_now = if *state == Word::Known(RecipientState::Waiting) { " for now" } else { "" };
            format!("{address}{for_now}: {status} {text}").trim_end().to_owned()
        });
        let mut faults = named.collect::<Vec<_>>().join("; ");
        faults.truncate(faults.floor_char_boundary(MAX_FAULTS));
        (!faults.is_empty()).then(|| format!("the mail server refuses {faults}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipients(of: &[(&str, RecipientState, u16, &str)]) -> Recipients {
        let all = of.iter().map(|(address, state, status, text)| {
            ((*address).to_owned(), Recipient::new(*state, *status, (*text).to_owned()))
        });
        Recipients(all.collect())
    }

    #[test]
    fn a_delivery_stays_one_and_other_answers_are_replaced() {
        use RecipientState::*;
        let before = recipients(&[("a", Delivered, 250, ""), ("b", Waiting, 450, "later")]);
        assert!(before.has_delivery() && before.is_waiting());
        let after = before.updated(recipients(&[("a", Refused, 550, "no"), ("b", Refused, 550, "no")]));
        assert_eq!(after, recipients(&[("a", Delivered, 250, ""), ("b", Refused, 550, "no")]));
        assert!(after.is_settled("a") && after.is_settled("b") && !after.is_settled("c"));
        assert!(
            after.has_delivery() && !after.is_waiting() && !recipients(&[("b", Refused, 550, "no")]).has_delivery()
        );
    }

    #[test]
    fn who_has_no_mail_is_named_with_code_and_text() {
        use RecipientState::*;
        let of =
            recipients(&[("a", Delivered, 250, "ok"), ("b", Refused, 550, "no such user"), ("c", Waiting, 451, "")]);
        let expected = "the mail server refuses b: 550 no such user; c for now: 451";
        assert_eq!(of.faults().as_deref(), Some(expected));
        assert_eq!(recipients(&[("a", Delivered, 250, "ok")]).faults(), None);
    }
}
