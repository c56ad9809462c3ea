//! `Finding`: the result of one check of `drover doctor`, and its remedy.

use serde::Serialize;

#[derive(Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub result: Verdict,
    /// Whether it is not a fault.
    pub ok: bool,
    pub detail: String,
    /// The remedy, or an advice; None when all is well.
    pub remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// All works, and could be better.
    Advice,
    Fault,
}

impl Finding {
    /// The result for people.
    pub fn mark(&self) -> &'static str {
        match self.result {
            Verdict::Ok => "ok",
            Verdict::Advice => "advice",
            Verdict::Fault => "FAULT",
        }
    }

    pub fn well(check: &'static str, detail: impl Into<String>) -> Self {
        Finding { check, result: Verdict::Ok, ok: true, detail: detail.into(), remedy: None }
    }

    pub fn advice(check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { check, result: Verdict::Advice, ok: true, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    pub fn fault(check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { check, result: Verdict::Fault, ok: false, detail: detail.into(), remedy: Some(remedy.into()) }
    }
}
