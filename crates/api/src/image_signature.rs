//! Signatures of image addresses: only addresses that the operator's own server made are rendered.
//!
//! `s` is the HMAC-SHA256 of the path and the other parameters, sorted, as 64 hex digits: of
//! `/img/products/az/…/image-ae38b1f9.webp?format=jpeg&w=200`. The parameters count as they are decoded.

use axum::http::Uri;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::form_urlencoded::{self, Serializer};

use super::ApiError;

/// The parameter that holds it.
pub const PARAMETER: &str = "s";

pub fn is_present(uri: &Uri) -> bool {
    pairs(uri).any(|(name, _)| name == PARAMETER)
}

/// Refuses an address whose signature was not made with `key`.
pub fn check(uri: &Uri, key: &str) -> Result<(), ApiError> {
    let mut given = pairs(uri).filter(|(name, _)| name == PARAMETER).map(|(_, value)| value);
    let (Some(given), None) = (given.next(), given.next()) else {
        return Err(ApiError::bad(PARAMETER, "given twice"));
    };
    let refused = || ApiError::Forbidden("the signature (parameter s) does not belong to this address".to_owned());
    let bytes = decode(&given).ok_or_else(refused)?;
    // in constant time
    mac(uri, key)?.verify_slice(&bytes).map_err(|_| refused())
}

fn mac(uri: &Uri, key: &str) -> Result<Hmac<Sha256>, ApiError> {
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes());
    let mut mac = mac.map_err(|error| ApiError::Internal(format!("images.signing_key: {error}")))?;
    mac.update(signed(uri).as_bytes());
    Ok(mac)
}

fn signed(uri: &Uri) -> String {
    let mut others: Vec<(String, String)> = pairs(uri).filter(|(name, _)| name != PARAMETER).collect();
    others.sort();
    let path = uri.path();
    // below a base path, the address is the same
    let path = path.find("/img/").map_or(path, |begin| &path[begin..]);
    match others.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", Serializer::new(String::new()).extend_pairs(others).finish()),
    }
}

fn pairs(uri: &Uri) -> impl Iterator<Item = (String, String)> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned()
}

fn decode(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const KEY: &str = "a key of more than thirty-two characters";
    const PATH: &str = "/img/brands/b/logo-ae38b1f9.webp";

    fn sign(address: &str) -> String {
        let uri = address.parse().unwrap();
        let code = mac(&uri, KEY).unwrap().finalize().into_bytes();
        code.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_signature_is_that_of_the_sorted_parameters() {
        let signature = sign(&format!("{PATH}?w=200&format=jpeg"));
        let check = |address: String| check(&address.parse().unwrap(), KEY).is_ok();
        assert!(check(format!("{PATH}?w=200&format=jpeg&s={signature}")));
        assert!(check(format!("{PATH}?s={signature}&format=jpeg&w=200")));
        assert!(check(format!("/drover{PATH}?s={signature}&format=jpeg&w=200")));
    }

    /// Same signature as `printf '/img/product/7?w=200' | openssl dgst -sha256 -hmac "$IMG_SIGNING_KEY"` prints it.
    #[test]
    fn it_is_plain_hmac_sha256() {
        assert_eq!(signed(&"/img/product/7?w=200".parse().unwrap()), "/img/product/7?w=200");
        assert_eq!(sign("/img/product/7?w=200"), "f2f879a5622502387fbcd25dbab484e694084bcb765fdd1a4f0a68c225140373");
    }

    #[rstest]
    #[case::another_parameter("?w=201", "{}")]
    #[case::another_path("x?w=200", "{}")]
    #[case::no_hex("?w=200", "zz")]
    #[case::short("?w=200", "00")]
    fn another_address_is_refused(#[case] rest: &str, #[case] signature: &str) {
        let signature = signature.replace("{}", &sign(&format!("{PATH}?w=200")));
        let address = format!("{PATH}{rest}&s={signature}");
        assert!(matches!(check(&address.parse().unwrap(), KEY), Err(ApiError::Forbidden(_))));
    }
}
