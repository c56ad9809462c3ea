//! The stored credentials, as `drover doctor` sees them: each can be read with the keys of this process.

use super::{Finding, unread};
use db::{Db, access};
use foundation::secrets::SecretKeys;

/// The credentials that no job can read.
pub async fn check(db: &Db, keys: &SecretKeys) -> Finding {
    let read = async { access::credentials::rekey(&db.client().await?, keys, true).await };
    let rekeyed = match read.await {
        Ok(rekeyed) => rekeyed,
        Err(error) => return unread("credentials", &error),
    };
    let unreadable: Vec<String> = rekeyed.unreadable.iter().map(|(name, fault)| format!("{name}: {fault}")).collect();
    match unreadable.is_empty() {
        true if keys.current_id().is_none() => Finding::advice(
            "credentials",
            "no key is set, so no credential can be stored",
            "`openssl rand -hex 32` prints one: give it as DROVER__SECRETS__KEY",
        ),
        true => Finding::well("credentials", format!("{} can be read", rekeyed.current + rekeyed.reencrypted)),
        false => Finding::fault(
            "credentials",
            unreadable.join("; "),
            "give the key that encrypted them as DROVER__SECRETS__KEY, or set the secret again: `drover media set credentials ID --secret-file FILE`",
        ),
    }
}
