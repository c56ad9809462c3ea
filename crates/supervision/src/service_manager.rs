//! Notices to the service manager that started this process (systemd, `Type=notify`): ready, alive, stopping.
//!
//! In: the manager's variables (`NOTIFY_SOCKET`, `WATCHDOG_USEC`). Out: datagrams; nothing without a manager. It must not know
//! what the process does.

use std::time::Duration;

use sd_notify::NotifyState;
use telemetry::events;

/// The process has all that it needs, and works.
pub fn ready() {
    send(NotifyState::Ready);
}

pub fn stopping() {
    send(NotifyState::Stopping);
}

/// The process is alive. To be sent every [`alive_interval`].
pub fn alive() {
    send(NotifyState::Watchdog);
}

/// Half of the time after which the manager takes the process for hung; None where it does not watch.
pub fn alive_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|limit| limit / 2).filter(|interval| !interval.is_zero())
}

fn send(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        events::service_manager_not_notified(&error);
    }
}
