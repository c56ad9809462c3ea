//! `/api/media/…`: the records of media jobs. Every kind has the same five endpoints.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{ApiError, ApiState, Body, Caller, Changes, Listing, NoParameters, Operator, Page, PageJson, Path, Viewer};
use contract::checks::BadField;
use contract::cursor::Cursor;
use contract::media::endpoints::Endpoint;
use contract::media::{Fields, Record, RecordKind, RecordPage};
use db::Tx;
use db::access::credentials::CredentialError;
use db::media::records::RecordError;
use domain::media::account::{check_public, web_address};
use domain::notification::{EndpointKind, PLATFORM, Target};
use domain::vocabulary::Word;
use foundation::webhook_signature::WebhookKey;

#[derive(Deserialize, IntoParams)]
pub struct RecordPath {
    /// The record's id
    pub id: i64,
}

/// Makes the module of a kind, with its endpoints. The texts are those of the API's description; in braces are
/// the refusals of changes and removals.
macro_rules! records {
    ($module:ident: $record:ty; $all:literal, $one:literal;
     $list:literal, $show:literal, $create:literal, $update:literal, $remove:literal;
     update: { $($update_refusal:tt)* }, remove: { $($remove_refusal:tt)* }) => {
        pub mod $module {
            use super::*;
            use contract::problem::Problem;

            #[doc = $list]
            #[utoipa::path(get, path = $all, tag = "media", responses((status = 200, body = RecordPage<$record>)))]
            pub async fn list(
                caller: Caller<Viewer>,
                listing: Listing<NoParameters>,
            ) -> Result<PageJson<RecordPage<$record>>, ApiError> {
                super::list(caller, listing).await
            }

            #[doc = $show]
            #[utoipa::path(get, path = $one, tag = "media", responses((status = 200, body = $record)))]
            pub async fn show(
                caller: Caller<Viewer>,
                Path(path): Path<RecordPath>,
            ) -> Result<Json<$record>, ApiError> {
                super::show(caller, path).await
            }

            #[doc = $create]
            #[utoipa::path(post, path = $all, tag = "media",
                                   responses((status = 201, body = $record), (status = 409, response = Problem)))]
            pub async fn create(
                changes: Changes<Operator>,
                State(api): State<ApiState>,
                Body(draft): Body<<$record as Record>::Draft>,
            ) -> Result<Response, ApiError> {
                super::create::<$record>(changes, api, draft).await
            }

            #[doc = $update]
            #[utoipa::path(put, path = $one, tag = "media",
                                   responses((status = 200, body = $record), $($update_refusal)*))]
            pub async fn update(
                changes: Changes<Operator>,
                State(api): State<ApiState>,
                Path(path): Path<RecordPath>,
                Body(change): Body<<$record as Record>::Change>,
            ) -> Result<Response, ApiError> {
                super::update::<$record>(changes, api, path, change).await
            }

            #[doc = $remove]
            #[utoipa::path(delete, path = $one, tag = "media", responses((status = 204, description = "Removed"), $($remove_refusal)*))]
            pub async fn remove(
                changes: Changes<Operator>,
                Path(path): Path<RecordPath>,
            ) -> Result<StatusCode, ApiError> {
                super::remove::<$record>(changes, path).await
            }
        }
    };
}

records! {
    accounts: contract::media::accounts::Account; "/api/media/accounts", "/api/media/accounts/{id}";
    "Lists the accounts whose media are scraped.", "Shows an account.",
    "Adds an account: `scrape_account` and `paid_content_creator` jobs download its media.",
    "Changes an account; fields that are not given stay as they are.", "Removes an account. Its items are kept.";
    update: {}, remove: {}
}

records! {
    credentials: contract::media::credentials::Credential; "/api/media/credentials", "/api/media/credentials/{id}";
    "Lists the credentials of services, without their secrets.", "Shows a credential without its secret.",
    "Stores a credential, encrypted; no answer shows its secret. Needs a key: DROVER__SECRETS__KEY.",
    "Changes the user name or the secret of a credential; a field that is not given stays as it is.",
    "Removes a credential that no account, forum or endpoint uses.";
    update: { (status = 409, response = Problem) }, remove: { (status = 409, response = Problem) }
}

records! {
    forums: contract::media::forums::Forum; "/api/media/forums", "/api/media/forums/{id}";
    "Lists the forums of watched threads.", "Shows a forum.",
    "Adds a forum, so that its threads can be watched. Its selectors are checked.",
    "Changes a forum; fields that are not given stay as they are.",
    "Removes a forum that has no watched thread. Its items are kept.";
    update: {}, remove: { (status = 409, response = Problem) }
}

records! {
    people: contract::media::people::Person; "/api/media/people", "/api/media/people/{id}";
    "Lists the watched people.", "Shows a watched person.", "Watches a person: `appearances_sync` jobs read the credits.",
    "Changes a watched person; fields that are not given stay as they are.", "Removes a person, with the appearances.";
    update: {}, remove: {}
}

records! {
    searches: contract::media::searches::Search; "/api/media/searches", "/api/media/searches/{id}";
    "Lists the saved searches.", "Shows a saved search.", "Saves a search: `easynews_monitor` jobs look for its new files.",
    "Changes a saved search; fields that are not given stay as they are.", "Removes a search. Its items are kept.";
    update: {}, remove: {}
}

records! {
    change_rules: contract::media::change_rules::ChangeRule; "/api/media/change_rules", "/api/media/change_rules/{id}";
    "Lists the rules of changes.", "Shows a rule of changes.",
    "Adds a rule: these changes of prices and stock are sent to an endpoint, from now on.",
    "Changes a rule of changes; fields that are not given stay as they are.",
    "Removes a rule of changes. Notifications already made are kept.";
    update: { (status = 409, response = Problem) }, remove: {}
}

records! {
    channels: contract::media::channels::Channel; "/api/media/channels", "/api/media/channels/{id}";
    "Lists the watched channels.", "Shows a watched channel.", "Watches a channel: `youtube_monitor` jobs look for its new videos.",
    "Changes a watched channel; fields that are not given stay as they are.",
    "Stops watching a channel. Its items are kept.";
    update: {}, remove: {}
}

records! {
    threads: contract::media::threads::Thread; "/api/media/threads", "/api/media/threads/{id}";
    "Lists the watched threads.", "Shows a watched thread.",
    "Watches a thread of a forum: `forum_scrape` jobs read its new posts.",
    "Changes a watched thread; fields that are not given stay as they are.",
    "Stops watching a thread, and removes its posts. Its items are kept.";
    update: {}, remove: {}
}

records! {
    endpoints: contract::media::endpoints::Endpoint; "/api/media/endpoints", "/api/media/endpoints/{id}";
    "Lists the notification endpoints.", "Shows a notification endpoint.",
    "Adds an endpoint; its rules decide which events are sent to it.",
    "Changes an endpoint; fields that are not given stay as they are. `enabled` switches a disabled one on again.",
    "Removes an endpoint, with its rules and notifications.";
    update: {}, remove: {}
}

records! {
    rules: contract::media::rules::Rule; "/api/media/rules", "/api/media/rules/{id}";
    "Lists the notification rules.", "Shows a notification rule.",
    "Adds a rule: these events are sent to an endpoint.",
    "Changes a rule; fields that are not given stay as they are.", "Removes a rule. Notifications already made are kept.";
    update: { (status = 409, response = Problem) }, remove: {}
}

async fn list<R: Record>(
    caller: Caller<Viewer>,
    Listing { limit, cursor, .. }: Listing<NoParameters>,
) -> Result<PageJson<RecordPage<R>>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.map(|Cursor(id)| id);
    let records = db::media::records::list::<R>(&client, after, limit.with_next()).await?;
    let page = Page::of(records, limit, Record::id);
    Ok(page.json(|records, next_cursor| RecordPage { records, next_cursor }))
}

async fn show<R: Record>(caller: Caller<Viewer>, RecordPath { id }: RecordPath) -> Result<Json<R>, ApiError> {
    Ok(Json(db::media::records::get(&caller.client().await?, id).await?))
}

async fn create<R: Record>(changes: Changes<Operator>, api: ApiState, draft: R::Draft) -> Result<Response, ApiError> {
    check(&api, &draft)?;
    let mut change = changes.begin().await?;
    let id = db::media::records::insert::<R>(&change, &draft).await?;
    if let Some(secret) = draft.secret() {
        db::access::credentials::seal(&change, id, secret, &api.keys).await?;
    }
    check_endpoint(&change, &api, R::KIND, id).await?;
    change.audit("media.create", target::<R>(id), json!(draft));
    let record: R = db::media::records::get(&change, id).await?;
    change.created(format!("/api/media/{}/{id}", R::KIND), &record).await
}

async fn update<R: Record>(
    changes: Changes<Operator>,
    api: ApiState,
    RecordPath { id }: RecordPath,
    fields: R::Change,
) -> Result<Response, ApiError> {
    check(&api, &fields)?;
    let mut change = changes.begin().await?;
    db::media::records::update::<R>(&change, id, &fields).await?;
    if let Some(secret) = fields.secret() {
        db::access::credentials::seal(&change, id, secret, &api.keys).await?;
    }
    check_endpoint(&change, &api, R::KIND, id).await?;
    change.audit("media.update", target::<R>(id), json!(fields));
    let record: R = db::media::records::get(&change, id).await?;
    change.answer(StatusCode::OK, &record).await
}

async fn remove<R: Record>(changes: Changes<Operator>, RecordPath { id }: RecordPath) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin().await?;
    db::media::records::delete(&change, R::KIND, id).await?;
    change.audit("media.delete", target::<R>(id), json!({}));
    change.no_content().await
}

fn check(api: &ApiState, fields: &impl Fields) -> Result<(), ApiError> {
    fields.check()?;
    check_address(api, fields)?;
    match fields.selectors().and_then(api.selectors_fault) {
        Some(fault) => Err(BadField { field: "selectors", fault }.into()),
        None => Ok(()),
    }
}

/// Refuses an endpoint, as this transaction has written it, that the sender could not use: its parts fit each other,
/// and its secrets can be read.
async fn check_endpoint(tx: &Tx, api: &ApiState, kind: RecordKind, id: i64) -> Result<(), ApiError> {
    if kind != RecordKind::Endpoints {
        return Ok(());
    }
    let Endpoint { kind, target, credential_id, previous_credential_id, .. } = db::media::records::get(tx, id).await?;
    let Word::Known(kind) = kind else { return Ok(()) };
    let target = Target::parse(kind, &target).map_err(|fault| ApiError::bad("target", fault))?;
    if target.is_private() && !api.live.current().config.media.allow_private {
        return Err(ApiError::bad("target", "is on a private network; media.allow_private permits it"));
    }
    if kind == EndpointKind::Webhook && credential_id.is_none() {
        return Err(ApiError::bad("credential_id", "missing: a webhook is signed with the secret of a credential"));
    }
    check_secret(tx, api, kind, "credential_id", credential_id).await?;
    check_secret(tx, api, kind, "previous_credential_id", previous_credential_id).await
}

async fn check_secret(
    tx: &Tx,
    api: &ApiState,
    kind: EndpointKind,
    field: &'static str,
    credential: Option<i64>,
) -> Result<(), ApiError> {
    let Some(id) = credential else { return Ok(()) };
    let opened = db::access::credentials::open(tx, id, &api.keys).await.map_err(|error| match error {
        CredentialError::Db(error) => error.into(),
        other => ApiError::bad(field, other),
    })?;
    if !kind.takes(&opened.platform, &opened.kind) {
        let kind = kind.credential_kind();
        return Err(ApiError::bad(
            field,
            format!("must be a credential of the platform {PLATFORM} and the kind {kind}"),
        ));
    }
    match kind {
        EndpointKind::Webhook => {
            WebhookKey::parse(&opened.secret).map(drop).map_err(|fault| ApiError::bad(field, fault))
        }
        EndpointKind::Email | EndpointKind::Ntfy => Ok(()),
    }
}

/// Whether jobs may ask the address, as far as its text says it.
fn check_address(api: &ApiState, fields: &impl Fields) -> Result<(), ApiError> {
    let Some((field, address)) = fields.address() else { return Ok(()) };
    if api.live.current().config.media.allow_private {
        return Ok(());
    }
    let checked = web_address(address).and_then(|url| check_public(&url));
    checked.map_err(|fault| ApiError::bad(field, fault.to_string()))
}

/// `channel 7`.
fn target<R: Record>(id: i64) -> String {
    format!("{} {id}", R::KIND.noun())
}

impl From<RecordError> for ApiError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::DuplicateKey { .. } | RecordError::InUse { .. } => ApiError::Conflict(error.to_string()),
            RecordError::Field(bad) => bad.into(),
            RecordError::Missing { noun, id } => ApiError::NotFound(format!("{noun} {id}")),
            RecordError::Db(error) => error.into(),
        }
    }
}

impl From<CredentialError> for ApiError {
    fn from(error: CredentialError) -> Self {
        match error {
            CredentialError::Db(error) => error.into(),
            CredentialError::Missing { id } => ApiError::NotFound(format!("credential {id}")),
            other => ApiError::Conflict(other.to_string()),
        }
    }
}
