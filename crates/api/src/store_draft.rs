//! `StoreDraft`: a store as an operator writes it, by flags, in a line of a file or by the fields of a
//! request; and [`checked_change`] of a store. In: text. Out: a checked [`NewStore`] or [`StoreChange`], or
//! every fault. Pure.

use serde::Deserialize;
use url::Url;

use contract::stores::StoreChange;
use domain::http::host_name::HostName;
use domain::http::public_host::is_public;
use domain::store::state_code::two_letters;
use domain::store::{MenuUrlFault, NewStore, Platform};
use domain::{schedule, store};

/// Every field as written. Empty is the same as absent.
#[derive(Clone, Debug, Default, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct StoreDraft {
    /// Name of the store
    #[arg(long)]
    #[serde(default)]
    pub name: String,
    /// Platform of the menu
    #[arg(long, default_value = "dutchie")]
    #[serde(default)]
    pub platform: String,
    /// Id of the store at the platform
    #[arg(long = "platform-id", value_name = "ID")]
    pub platform_dispensary_id: Option<String>,
    /// Last part of the menu's URL
    #[arg(long)]
    pub slug: Option<String>,
    /// URL of the menu at the platform or on the store's API host; drover looks up the platform's id there
    #[arg(long, value_name = "URL")]
    pub menu_url: Option<String>,
    /// Host of the store's API, if it is not the platform's
    #[arg(long, value_name = "HOST")]
    pub api_host: Option<String>,
    /// Path of the store's API, if it is not the platform's
    #[arg(long, value_name = "PATH")]
    pub api_path: Option<String>,
    /// City of the store
    #[arg(long)]
    pub city: Option<String>,
    /// State of the store, two letters such as AZ
    #[arg(long)]
    pub state: Option<String>,
    /// Time zone of the store, such as America/Phoenix [default: the one of its state]
    #[arg(long)]
    pub timezone: Option<String>,
    /// Groups of the store, separated by semicolons
    #[arg(long, value_name = "GROUP;…")]
    pub groups: Option<String>,
}

impl StoreDraft {
    /// The store, or every fault.
    pub fn check(self) -> Result<NewStore, Vec<String>> {
        let name = self.name.trim().to_owned();
        let platform = match self.platform.trim() {
            "" => Ok(Platform::DEFAULT),
            word => word.parse().map_err(|unknown: domain::store::UnknownPlatform| unknown.to_string()),
        };
        let groups = store::group::names(&self.groups.unwrap_or_default());
        let store = NewStore {
            name,
            platform: *platform.as_ref().unwrap_or(&Platform::DEFAULT),
            platform_dispensary_id: non_blank(self.platform_dispensary_id),
            slug: non_blank(self.slug),
            menu_url: non_blank(self.menu_url),
            api_host: non_blank(self.api_host).map(|host| host.to_ascii_lowercase()),
            api_path: non_blank(self.api_path),
            city: non_blank(self.city),
            state: non_blank(self.state).map(|state| state.to_ascii_uppercase()),
            timezone: non_blank(self.timezone),
            groups: groups.clone().unwrap_or_default(),
        };
        let faults: Vec<String> = platform.err().into_iter().chain(groups.err()).chain(faults(&store)).collect();
        if faults.is_empty() { Ok(store) } else { Err(faults) }
    }
}

/// The change with its texts trimmed, or every fault with its field. An empty text is the same as null.
pub fn checked_change(change: StoreChange) -> Result<StoreChange, Vec<(String, String)>> {
    let text = |text: Option<Option<String>>| text.map(non_blank);
    let change = StoreChange {
        crawl_enabled: change.crawl_enabled,
        name: change.name.map(|name| name.trim().to_owned()),
        slug: text(change.slug),
        menu_url: text(change.menu_url),
        platform_dispensary_id: text(change.platform_dispensary_id),
        city: text(change.city),
        state: text(change.state).map(|state| state.map(|state| state.to_ascii_uppercase())),
        timezone: text(change.timezone),
    };
    if change == StoreChange::default() {
        return Err(vec![("crawl_enabled".to_owned(), "missing: give at least one field to change".to_owned())]);
    }
    let given = |text: &Option<Option<String>>| text.clone().flatten();
    let texts = [
        ("name", change.name.clone()),
        ("slug", given(&change.slug)),
        ("menu_url", given(&change.menu_url)),
        ("platform_dispensary_id", given(&change.platform_dispensary_id)),
        ("city", given(&change.city)),
        ("state", given(&change.state)),
        ("timezone", given(&change.timezone)),
    ];
    let fault = |(field, text): (&str, Option<String>)| Some((field.to_owned(), bad_value(field, text.as_deref()?)?));
    let faults: Vec<(String, String)> = texts.into_iter().filter_map(fault).collect();
    if faults.is_empty() { Ok(change) } else { Err(faults) }
}

fn bad_value(field: &str, text: &str) -> Option<String> {
    match field {
        "name" if text.is_empty() => Some("name is missing".to_owned()),
        "menu_url" => bad_text(field, text).or_else(|| bad_url(text)),
        "slug" => bad_text(field, text).or_else(|| bad_slug(text)),
        "state" => bad_state(text),
        "timezone" => bad_text(field, text).or_else(|| bad_timezone(text)),
        _ => bad_text(field, text),
    }
}

/// Why the host of the store's API, or that of its menu URL, is refused.
pub fn bad_host(store: &NewStore, allowed: &[String], menu_url_fault: &MenuUrlFault) -> Option<String> {
    let menu_url = store.menu_url.as_deref();
    private_host(store, allowed).or_else(|| menu_url_fault(store.platform, menu_url?, store.api_host.as_deref()))
}

/// Crawls reach a store's host through the proxies, so a host of a private network must be allowed by the
/// operator.
fn private_host(store: &NewStore, allowed: &[String]) -> Option<String> {
    let host = store.api_host.as_ref().filter(|host| !is_public(host) && !allowed.contains(host))?;
    Some(format!("api_host {host} is not a public host: correct it, or add it to http.host_allowlist"))
}

fn non_blank(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn faults(store: &NewStore) -> impl Iterator<Item = String> {
    let check = |text: &Option<String>, fault: fn(&str) -> Option<String>| text.as_deref().and_then(fault);
    let no_name = store.name.is_empty().then(|| "name is missing".to_owned());
    let no_menu = [&store.platform_dispensary_id, &store.slug, &store.menu_url].iter().all(|key| key.is_none());
    let no_menu = no_menu.then(|| "the platform's id, the slug or the menu URL must be given".to_owned());
    let texts = [
        ("name", Some(&store.name)),
        ("platform_dispensary_id", store.platform_dispensary_id.as_ref()),
        ("slug", store.slug.as_ref()),
        ("menu_url", store.menu_url.as_ref()),
        ("api_path", store.api_path.as_ref()),
        ("city", store.city.as_ref()),
        ("timezone", store.timezone.as_ref()),
    ];
    let bad_text = texts.into_iter().find_map(|(column, text)| bad_text(column, text?));
    [
        no_name,
        no_menu,
        bad_text,
        check(&store.slug, bad_slug),
        check(&store.menu_url, bad_url),
        check(&store.api_host, bad_api_host),
        check(&store.api_path, bad_path),
        check(&store.state, bad_state),
        check(&store.timezone, bad_timezone),
    ]
    .into_iter()
    .flatten()
}

fn bad_text(column: &str, text: &str) -> Option<String> {
    if text.chars().any(char::is_control) {
        return Some(format!("{column} holds a control character, such as a line break"));
    }
    (text.len() > MAX_TEXT).then(|| format!("{column} is longer than {MAX_TEXT} bytes"))
}

/// Maximum in bytes: longer than any name or URL of a store.
const MAX_TEXT: usize = 500;

/// A slug is one part of a URL's path.
fn bad_slug(text: &str) -> Option<String> {
    let is_part = text.chars().all(|each| each.is_alphanumeric() || "-_.~".contains(each)) && !text.starts_with('.');
    (!is_part).then(|| format!("slug '{text}' is not the last part of a menu's URL, such as a-shop"))
}

fn bad_url(text: &str) -> Option<String> {
    let is_url = Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
    (!is_url).then(|| format!("menu_url '{text}' is not a URL such as https://dutchie.com/dispensary/a-name"))
}

fn bad_api_host(text: &str) -> Option<String> {
    let host = Url::parse(&format!("https://{text}")).ok().filter(|url| {
        url.path() == "/"
            && url.query().is_none()
            && url.username().is_empty()
            && !text.contains('/')
            && !text.contains('#')
            && without_port(text).parse::<HostName>().is_ok()
    });
    host.is_none().then(|| format!("api_host '{text}' is not a host such as menu.example.com or menu.example.com:8443"))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // IPv6 with a port has brackets
        Some((name, _)) if !name.contains(':') || name.ends_with(']') => name,
        _ => host,
    }
}

fn bad_path(text: &str) -> Option<String> {
    let is_path = text.starts_with('/') && !text.contains(['?', '#', ' ']);
    (!is_path).then(|| format!("api_path '{text}' is not a path such as /api-3/graphql"))
}

fn bad_state(text: &str) -> Option<String> {
    if two_letters(text).is_none() {
        return Some(format!("state '{text}' is not two letters such as AZ"));
    }
    store::us_states::code(text)
        .is_none()
        .then(|| format!("state '{text}' does not exist: use the code of a US state, such as AZ"))
}

fn bad_timezone(text: &str) -> Option<String> {
    let is_zone = text.contains('/') && schedule::time_zone::exists(text);
    (!is_zone).then(|| format!("timezone '{text}' is not a zone name such as America/Phoenix"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn draft() -> StoreDraft {
        StoreDraft { name: "A Shop".to_owned(), slug: Some("a-shop".to_owned()), ..StoreDraft::default() }
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn blank_is_absent_and_case_is_normalised() {
        let draft =
            StoreDraft { state: some(" az "), api_host: some("Menu.Example.COM:8443"), city: some("  "), ..draft() };
        let store = draft.check().unwrap();
        assert_eq!((store.state.as_deref(), store.city), (Some("AZ"), None));
        assert_eq!(store.api_host.as_deref(), Some("menu.example.com:8443"));
    }

    #[rstest]
    #[case::no_name(StoreDraft { name: " ".to_owned(), ..draft() }, "name is missing")]
    #[case::no_menu(StoreDraft { slug: None, ..draft() }, "the platform's id, the slug or the menu URL")]
    #[case::platform(StoreDraft { platform: "leaflet".to_owned(), ..draft() }, "unknown platform 'leaflet'")]
    #[case::slug(StoreDraft { slug: some("a shop"), ..draft() }, "slug 'a shop'")]
    #[case::slug_of_a_path(StoreDraft { slug: some("../a-shop"), ..draft() }, "slug '../a-shop'")]
    #[case::url(StoreDraft { menu_url: some("dutchie.com/x"), ..draft() }, "menu_url 'dutchie.com/x'")]
    #[case::url_scheme(StoreDraft { menu_url: some("ftp://dutchie.com/x"), ..draft() }, "menu_url")]
    #[case::host(StoreDraft { api_host: some("https://x.com"), ..draft() }, "api_host")]
    #[case::host_with_an_underscore(StoreDraft { api_host: some("a_b.example"), ..draft() }, "api_host 'a_b.example'")]
    #[case::host_with_user(StoreDraft { api_host: some("me@x.com"), ..draft() }, "api_host")]
    #[case::path(StoreDraft { api_path: some("graphql"), ..draft() }, "api_path")]
    #[case::state(StoreDraft { state: some("Arizona"), ..draft() }, "state 'ARIZONA'")]
    #[case::no_such_state(StoreDraft { state: some("zz"), ..draft() }, "state 'ZZ' does not exist")]
    #[case::groups(StoreDraft { groups: some("a,b"), ..draft() }, "group 'a,b'")]
    #[case::timezone(StoreDraft { timezone: some("MST"), ..draft() }, "timezone 'MST'")]
    fn each_fault_is_named(#[case] draft: StoreDraft, #[case] fault: &str) {
        let faults = draft.check().unwrap_err();
        assert!(faults.len() == 1 && faults[0].contains(fault), "{faults:?}");
    }

    #[test]
    fn a_change_is_trimmed_and_an_empty_text_removes_the_value() {
        let change = StoreChange { slug: Some(some(" a-shop ")), menu_url: Some(some(" ")), ..StoreChange::default() };
        let checked = checked_change(change).unwrap();
        assert_eq!((checked.slug, checked.menu_url), (Some(some("a-shop")), Some(None)));
    }

    #[rstest]
    #[case::nothing(StoreChange::default(), "crawl_enabled")]
    #[case::no_name(StoreChange { name: some(" "), ..StoreChange::default() }, "name")]
    #[case::url(StoreChange { menu_url: Some(some("dutchie.com/x")), ..StoreChange::default() }, "menu_url")]
    #[case::slug(StoreChange { slug: Some(some("a?b")), ..StoreChange::default() }, "slug")]
    #[case::control(StoreChange { slug: Some(some("a\nb")), ..StoreChange::default() }, "slug")]
    #[case::long(StoreChange { platform_dispensary_id: Some(Some("1".repeat(501))), ..StoreChange::default() }, "platform_dispensary_id")]
    fn each_fault_of_a_change_has_its_field(#[case] change: StoreChange, #[case] field: &str) {
        assert_eq!(checked_change(change).unwrap_err()[0].0, field);
    }
}
