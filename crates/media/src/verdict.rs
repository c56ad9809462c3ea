//! `Verdict`: what follows from the way in which a tool ended.

use crate::tool::How;

/// Verdict on a tool's end, which decides about a retry; the reason is the tool's first error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Done,
    /// Another try may succeed.
    Retry,
    /// Cannot succeed without a person. `login`: the site asks for another login than it was given, or for a browser.
    Permanent {
        login: bool,
    },
}

impl Verdict {
    pub(crate) const PERMANENT: Verdict = Verdict::Permanent { login: false };
    pub(crate) const LOGIN: Verdict = Verdict::Permanent { login: true };

    /// The same for every tool, but for exit codes.
    pub(crate) fn of(how: How, of_exit: impl FnOnce(i32) -> Verdict) -> Verdict {
        match how {
            How::Exit(code) => of_exit(code),
            // it prints the same line next time
            How::LineTooLong => Verdict::PERMANENT,
            How::Signal(_) | How::TimedOut | How::Hung | How::Cancelled => Verdict::Retry,
        }
    }
}
