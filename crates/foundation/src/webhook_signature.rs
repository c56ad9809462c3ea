//! Signatures of webhooks, as the Standard Webhooks describe them: `v1,` and the HMAC-SHA256 of id, time and body.
//!
//! In: a secret, `whsec_` and the base64 of 24 to 64 bytes; what is sent. Out: the value of `webhook-signature`. It must
//! not know who sends it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;

const PREFIX: &str = "whsec_";
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Key of a webhook. A secret, so it has no `Debug`.
pub struct WebhookKey(Vec<u8>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the secret of a webhook is whsec_ and the base64 of {} to {} bytes, as from `echo whsec_$(openssl rand -base64 32)`",
    KEY_BYTES.start(),
    KEY_BYTES.end()
)]
pub struct BadWebhookSecret;

impl WebhookKey {
    pub fn parse(secret: &str) -> Result<WebhookKey, BadWebhookSecret> {
        let key = secret.strip_prefix(PREFIX).and_then(|coded| STANDARD.decode(coded).ok());
        key.filter(|key| KEY_BYTES.contains(&key.len())).map(WebhookKey).ok_or(BadWebhookSecret)
    }

    /// `timestamp`: seconds since 1970.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> Result<String, BadWebhookSecret> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).map_err(|_| BadWebhookSecret)?;
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The example of the Standard Webhooks.
    #[test]
    fn the_published_example_has_its_signature() {
        let key = WebhookKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature.as_deref(), Ok("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[rstest]
    #[case::no_prefix("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    #[case::no_base64("whsec_not base64")]
    #[case::short("whsec_c2hvcnQ=")]
    #[case::empty("whsec_")]
    fn a_weak_or_wrong_secret_is_refused_without_showing_it(#[case] secret: &str) {
        let error = WebhookKey::parse(secret).err().unwrap().to_string();
        assert!(!error.contains("MfKQ") && !error.contains("not base64") && !error.contains("c2hvcnQ"), "{error}");
    }
}
