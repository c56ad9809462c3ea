//! `ParameterTypes`: the types of the parameters of statements that are sent without being prepared.
//!
//! In: the text of a statement, and a connection to ask on. Out: its types. The server infers them once for
//! each text, in one message, which leaves nothing behind on the connection: behind a pooler, the next
//! message may reach another one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tokio_postgres::types::{Oid, Type};
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::DbError;

/// Maximum number of texts; at one more, all are forgotten.
const MAX_STATEMENTS: usize = 4_096;

/// Cheap to clone; the clones share what they know.
#[derive(Clone, Default)]
pub struct ParameterTypes(Arc<Mutex<HashMap<String, Arc<[Type]>>>>);

impl ParameterTypes {
    pub async fn of(&self, sql: &str, client: &Client) -> Result<Arc<[Type]>, DbError> {
        if let Some(known) = self.known().get(sql) {
            return Ok(known.clone());
        }
        let types: Arc<[Type]> = ask(sql, client).await?.into();
        let mut known = self.known();
        if known.len() >= MAX_STATEMENTS {
            known.clear();
        }
        known.insert(sql.to_owned(), types.clone());
        Ok(types)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<[Type]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One message is one transaction, so all of it runs on one connection.
async fn ask(sql: &str, client: &Client) -> Result<Vec<Type>, DbError> {
    let name = unused_name();
    let ask = format!(
        "PREPARE {name} AS {sql}\n; \
         SELECT array_to_string(parameter_types::oid[], ' ') FROM pg_prepared_statements WHERE name = '{name}'; \
         DEALLOCATE {name}"
    );
    let answer = client.simple_query(&ask).await?;
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let oids = row.map(|row| row.try_get(0)).transpose()?.flatten().unwrap_or_default();
    oids.split_ascii_whitespace().map(type_of).collect()
}

fn type_of(oid: &str) -> Result<Type, DbError> {
    let known = oid.parse::<Oid>().ok().and_then(Type::from_oid);
    known.ok_or_else(|| DbError::Other(format!("a parameter has the type {oid}, which the driver does not know")))
}

/// Makes a name that no statement has, so that one left behind by a cancellation is in no other's way.
fn unused_name() -> String {
    static PROCESS: LazyLock<u64> = LazyLock::new(rand::random);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("drover_{:x}_{}", *PROCESS, COUNT.fetch_add(1, Ordering::Relaxed))
}
