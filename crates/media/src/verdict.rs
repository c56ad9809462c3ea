//! `Verdict`: what follows from the way in which a tool ended.

/// It decides about a retry; the reason is the tool's first error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Done,
    /// It may go better next time.
    Retry,
    /// It cannot go better without a person. `login`: the site asks for another login than it was given, or for a browser.
    Permanent {
        login: bool,
    },
}
