//! Environment variables as two layers: the established names, and `DROVER__SECTION__KEY` for every key.

use std::collections::BTreeMap;

use config::ValueKind;

use super::errors::ConfigErrors;
use super::layers::{Layer, Schema};

const PREFIX: &str = "DROVER__";

/// How an established variable's text becomes the setting's.
enum Form {
    AsIs,
    Milliseconds,
    /// A whole number of seconds, or a duration such as `5s`.
    Seconds,
    /// Any value means `never`.
    Never,
}

/// Variables with established names. `PORT` is apart: it changes only the port of a setting.
const ESTABLISHED: [(&str, &str, Form); 26] = [
    ("DATABASE_URL", "database.url", Form::AsIs),
    ("DROVER_TOKEN", "client.token", Form::AsIs),
    ("DROVER_PG_BIN", "database.pg_bin", Form::AsIs),
    ("STORAGE_DRIVER", "storage.driver", Form::AsIs),
    ("AWS_REGION", "storage.region", Form::AsIs),
    ("AWS_ACCESS_KEY_ID", "storage.access_key_id", Form::AsIs),
    ("AZURE_STORAGE_ACCOUNT_NAME", "storage.account", Form::AsIs),
    ("AZURE_STORAGE_ACCOUNT_KEY", "storage.account_key", Form::AsIs),
    ("AWS_SECRET_ACCESS_KEY", "storage.secret_access_key", Form::AsIs),
    ("GOOGLE_APPLICATION_CREDENTIALS", "storage.service_account_file", Form::AsIs),
    ("IMG_SIGNING_KEY", "images.signing_key", Form::AsIs),
    ("WORKER_ROLE", "worker.role", Form::AsIs),
    ("WORKER_ID", "worker.id", Form::AsIs),
    ("HOSTNAME", "worker.host", Form::AsIs),
    ("MAX_CONCURRENT_TASKS", "topology.slots", Form::AsIs),
    ("WORKER_CONCURRENCY", "media.slots", Form::AsIs),
    ("WORKER_POLL_INTERVAL", "media.poll_interval", Form::Seconds),
    ("K8S_NAMESPACE", "kubernetes.namespace", Form::AsIs),
    ("K8S_WORKER_STATEFULSET", "kubernetes.statefulset", Form::AsIs),
    ("POLL_INTERVAL_MS", "queue.poll_interval", Form::Milliseconds),
    ("HEARTBEAT_INTERVAL_MS", "queue.heartbeat", Form::Milliseconds),
    ("MEMORY_BACKOFF_THRESHOLD", "worker.memory_backoff_threshold", Form::AsIs),
    ("CPU_BACKOFF_THRESHOLD", "worker.cpu_backoff_threshold", Form::AsIs),
    ("BACKOFF_DURATION_MS", "worker.backoff_duration", Form::Milliseconds),
    ("RUST_LOG", "log.level", Form::AsIs),
    ("NO_COLOR", "log.color", Form::Never),
];

/// `listen` is the value of `api.listen` in the layers below.
pub fn established(schema: &Schema, set: &BTreeMap<String, String>, listen: &str, errors: &mut ConfigErrors) -> Layer {
    let mut layer = Layer::default();
    for (name, key, form) in &ESTABLISHED {
        let Some(text) = set.get(*name).filter(|text| !text.is_empty()) else { continue };
        match form.read(text).and_then(|text| schema.read_text(key, &text)) {
            Ok(value) => layer.set(name, key, value),
            Err(problem) => errors.push(*name, *key, problem),
        }
    }
    if let Some(port) = set.get("PORT").filter(|text| !text.is_empty()) {
        match with_port(listen, port) {
            Ok(listen) => layer.set("PORT", "api.listen", ValueKind::String(listen)),
            Err(problem) => errors.push("PORT", "api.listen", problem),
        }
    }
    layer
}

/// Every variable that begins with `DROVER__`. An empty one is the empty string where its key is a string,
/// otherwise unset.
pub fn drover(schema: &Schema, set: &BTreeMap<String, String>, errors: &mut ConfigErrors) -> Layer {
    let mut layer = Layer::default();
    for (name, text) in set {
        let Some(key) = name.strip_prefix(PREFIX) else { continue };
        let key = key.to_lowercase().replace("__", ".");
        if text.is_empty() && schema.is_never_empty(&key) {
            continue;
        }
        match schema.read_text(&key, text) {
            Ok(value) => layer.set(name, &key, value),
            Err(problem) => errors.push(name, key, problem),
        }
    }
    layer
}

impl Form {
    fn read(&self, text: &str) -> Result<String, String> {
        match self {
            Form::AsIs => Ok(text.to_owned()),
            Form::Never => Ok("never".to_owned()),
            Form::Seconds => Ok(text.parse::<u64>().map_or_else(|_| text.to_owned(), |seconds| format!("{seconds}s"))),
            Form::Milliseconds => match text.parse::<u64>() {
                Ok(millis) => Ok(format!("{millis}ms")),
                Err(_) => Err(format!("expected milliseconds as a whole number, got '{text}'")),
            },
        }
    }
}

fn with_port(listen: &str, port: &str) -> Result<String, String> {
    let port: u16 = port.parse().map_err(|_| format!("expected a port (0–65535), got '{port}'"))?;
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
    Ok(format!("{host}:{port}"))
}
