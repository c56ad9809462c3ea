//! `Secrets`: the parts of a request that are for its receiver alone: keys in headers and in the query.
//!
//! Pure: names and addresses in, the same addresses without the keys out. It must not know connections or hosts.

use std::borrow::Cow;

use url::{Url, form_urlencoded};

/// Text in the place of a key.
const MASK: &str = "***";

/// Names of the secret parts of a request, declared by the adapter that makes it, and the answers that refuse them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Headers that the page's script sets.
    pub headers: &'static [&'static str],
    /// Parameters of the query.
    pub query: &'static [&'static str],
    /// Statuses such as 403 that refuse the key where their body is JSON. 401 refuses it whatever its body.
    pub refused_by: &'static [u16],
}

impl Secrets {
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|secret| secret.eq_ignore_ascii_case(name))
    }

    /// The secret parameters of an address, each as it is written there and as it is read.
    pub(super) fn values(&self, url: &Url) -> Vec<String> {
        let parameters = url.query().unwrap_or_default().split('&').filter(|parameter| self.names(parameter));
        let forms = parameters.flat_map(|parameter| {
            let written = parameter.split_once('=').map_or("", |(_, value)| value);
            [written.to_owned(), read(parameter).1.into_owned()]
        });
        forms.filter(|value| !value.is_empty()).collect()
    }

    /// The address with a mask for each secret, to be shown.
    pub(super) fn masked(&self, url: &Url) -> Url {
        rewritten(url, |parameter| match self.names(parameter) {
            true => Some(Cow::Owned(format!("{}={MASK}", parameter.split('=').next().unwrap_or_default()))),
            false => Some(Cow::Borrowed(parameter)),
        })
    }

    /// The address without its secret parameters, and without those that repeat one of `keys`, for another receiver.
    pub(super) fn removed(&self, url: &Url, keys: &[String]) -> Url {
        let repeats = |parameter: &str| keys.iter().any(|key| read(parameter).1.contains(key.as_str()));
        rewritten(url, |parameter| (!self.names(parameter) && !repeats(parameter)).then_some(Cow::Borrowed(parameter)))
    }

    /// Whether it is `parameter`, as written in a query, that is secret.
    fn names(&self, parameter: &str) -> bool {
        let (name, _) = read(parameter);
        self.query.iter().any(|secret| secret.eq_ignore_ascii_case(&name))
    }
}

/// A text with a mask for each of `keys`.
pub(super) fn masked_text(text: &str, keys: &[String]) -> String {
    keys.iter().fold(text.to_owned(), |text, key| text.replace(key.as_str(), MASK))
}

/// Name and value of a parameter as written in a query.
fn read(parameter: &str) -> (Cow<'_, str>, Cow<'_, str>) {
    form_urlencoded::parse(parameter.as_bytes()).next().unwrap_or_default()
}

/// The address with each parameter of its query as `rewrite` returns it. All others stay as they are written.
fn rewritten<'a>(url: &'a Url, rewrite: impl Fn(&'a str) -> Option<Cow<'a, str>>) -> Url {
    let Some(query) = url.query() else { return url.clone() };
    let kept: Vec<_> = query.split('&').filter_map(rewrite).collect();
    let mut url = url.clone();
    url.set_query((!kept.is_empty()).then(|| kept.join("&")).as_deref());
    url
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SECRETS: Secrets = Secrets { headers: &["x-api-key"], query: &["x-api-key"], refused_by: &[] };

    #[rstest]
    #[case::none("https://a.test/?a=1&b[]=%5B", "https://a.test/?a=1&b[]=%5B", "https://a.test/?a=1&b[]=%5B")]
    #[case::no_query("https://a.test/x", "https://a.test/x", "https://a.test/x")]
    #[case::alone("https://a.test/?x-api-key=k-e-y", "https://a.test/?x-api-key=***", "https://a.test/")]
    #[case::among_others(
        "https://a.test/?a=1&x-api-key=k&b=2",
        "https://a.test/?a=1&x-api-key=***&b=2",
        "https://a.test/?a=1&b=2"
    )]
    #[case::twice(
        "https://a.test/?x-api-key=k&x-api-key=l",
        "https://a.test/?x-api-key=***&x-api-key=***",
        "https://a.test/"
    )]
    #[case::in_capitals("https://a.test/?X-API-Key=k", "https://a.test/?X-API-Key=***", "https://a.test/")]
    #[case::encoded("https://a.test/?x%2Dapi-key=k", "https://a.test/?x%2Dapi-key=***", "https://a.test/")]
    #[case::a_longer_name(
        "https://a.test/?x-api-key-id=7",
        "https://a.test/?x-api-key-id=7",
        "https://a.test/?x-api-key-id=7"
    )]
    fn an_address_is_shown_and_handed_on_without_its_keys(
        #[case] url: &str,
        #[case] shown: &str,
        #[case] elsewhere: &str,
    ) {
        let url: Url = url.parse().unwrap();
        assert_eq!(SECRETS.masked(&url).as_str(), shown);
        assert_eq!(SECRETS.removed(&url, &[]).as_str(), elsewhere);
    }

    #[test]
    fn a_key_is_known_in_both_of_its_forms() {
        let url: Url = "https://a.test/?x-api-key=k%2Be%2By&a=1".parse().unwrap();
        let keys = SECRETS.values(&url);
        assert_eq!(keys, ["k%2Be%2By", "k+e+y"]);
        assert_eq!(masked_text("no k+e+y, no k%2Be%2By", &keys), "no ***, no ***");
    }

    #[test]
    fn a_parameter_that_repeats_a_key_under_another_name_goes_nowhere_else() {
        let login: Url = "https://login.test/?a=1&from=https%3A%2F%2Fa.test%2F%3Fx-api-key%3Dk-e-y".parse().unwrap();
        assert_eq!(SECRETS.removed(&login, &["k-e-y".to_owned()]).as_str(), "https://login.test/?a=1");
    }
}
