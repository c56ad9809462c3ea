//! One function per domain event: a log line and its metric. Callers say what happened; how it is shown is decided here.
