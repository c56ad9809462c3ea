//! Panics as texts: the hook logs each one where it happens, and keeps its place for the code that catches
//! it. Before there is a log, and in tests, the hook that was there shows it.
//!
//! In: panics of any thread. Out: a log line, and the text that an attempt, an exit or a chore reports. It
//! decides nothing.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Once;

use telemetry::events;
use telemetry::log;

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs the hook, once for a process.
pub fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let text = info.payload_as_str().unwrap_or("panic");
            events::panicked(&place, text);
            if !log::is_on() {
                before(info);
            }
            LAST_PANIC.with(|last| *last.borrow_mut() = Some(format!("{text} at {place}")));
        }));
    });
}

/// The text of a caught panic, with its place when it was caught on the thread where it happened.
pub fn text(payload: &(dyn Any + Send)) -> String {
    let message = payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "panic".to_owned());
    let last = LAST_PANIC.with(|last| last.borrow_mut().take());
    last.filter(|text| text.starts_with(&message)).unwrap_or(message)
}
