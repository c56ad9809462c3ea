//! Notifications of ended jobs, each with its delivery.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::age_sort::AgeSort;
use super::cursor::Cursor;
use domain::notification::recipient::Recipients;
use domain::notification::{EndpointId, NotificationId, NotificationState};
use domain::vocabulary::Word;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NotificationView {
    pub id: NotificationId,
    pub endpoint_id: EndpointId,
    /// Name of the endpoint.
    pub endpoint: String,
    /// An event that a rule may ask for, or `test`.
    pub event: String,
    /// The id of a job, and after a colon the number of its run; `rule`, its id and after a colon the first of its events.
    pub subject: String,
    /// Its id at the receiver: the header `webhook-id`, and the first half of `Message-ID`. The same in every try.
    pub message_id: String,
    #[schema(value_type = Object)]
    pub body: Value,
    #[schema(value_type = NotificationState)]
    pub state: Word<NotificationState>,
    /// The last answer for each recipient of a mail, by address.
    pub recipients: Recipients,
    pub attempts: i32,
    /// Time of the next try; null: it is not tried again.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// Status of the last answer, of HTTP or of SMTP; null: there was none.
    pub last_status: Option<i32>,
    /// Why the last try failed, and what helps.
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// Filter of notifications; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NotificationFilter {
    /// Just this notification.
    #[serde(skip)]
    pub id: Option<NotificationId>,
    /// Only notifications of the endpoint with this id.
    pub endpoint: Option<EndpointId>,
    pub state: Option<NotificationState>,
    /// Order by the time when the notification was created.
    #[param(inline)]
    pub sort: AgeSort,
    /// The last notification of the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<NotificationId>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NotificationPage {
    pub notifications: Vec<NotificationView>,
    /// Cursor of the next page; null on the last page.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}
