//! Endpoints at the simulated site, and their sender, run as a worker runs it.

use contract::media::endpoints::{Endpoint, EndpointDraft};
use contract::notifications::{NotificationFilter, NotificationView};
use domain::task::role::Role;
use queue::{Outcome, TaskError};
use serde_json::{Value, json};
use sim::media::Delivery;

use crate::media::harness::MediaHarness;

/// Secret of 24 bytes.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

impl MediaHarness {
    pub async fn add_token(&self, name: &str, secret: &str) -> i64 {
        self.add_credential(json!({"name": name, "platform": "notifications", "kind": "token", "secret": secret})).await
    }

    pub async fn add_endpoint(&self, draft: Value) -> i64 {
        self.add::<Endpoint>(serde_json::from_value::<EndpointDraft>(draft).unwrap()).await
    }

    /// A webhook of that name at the site, signed with [`SECRET`].
    pub async fn add_webhook(&self, name: &str) -> i64 {
        let credential = self.add_token(name, SECRET).await;
        let target = self.site.address(&format!("/hooks/{name}"));
        self.add_endpoint(json!({"name": name, "kind": "webhook", "target": target, "credential_id": credential})).await
    }

    /// Notifications of that many failed jobs.
    pub async fn tell(&self, endpoint: i64, count: i64) {
        let sql = "INSERT INTO notifications (endpoint_id, event, subject, body)
                   SELECT $1, 'job.failed', n || ':1', jsonb_build_object('id', n, 'job_type', 'scrape_account', 'platform', 'site', 'error_message', 'away')
                     FROM generate_series(1, $2::bigint) n";
        self.database.raw.execute(sql, &[&endpoint, &count]).await.unwrap();
    }

    pub async fn send(&self, endpoint: i64) -> Result<Outcome, TaskError> {
        self.run(Role::Notify, json!({"endpoint_id": endpoint})).await
    }

    /// Every notification that waits for another try is due.
    pub async fn make_due(&self) {
        let sql = "UPDATE notifications SET next_attempt_at = now() WHERE state = 'pending'";
        self.database.raw.batch_execute(sql).await.unwrap();
    }

    /// The oldest first.
    pub async fn notifications(&self, endpoint: i64) -> Vec<NotificationView> {
        let client = self.database.db.client().await.unwrap();
        let filter = NotificationFilter { endpoint: Some(endpoint), ..NotificationFilter::default() };
        let mut found = db::notifications::list(&client, &filter, 1000).await.unwrap();
        found.reverse();
        found
    }

    /// Seconds until the next try.
    pub async fn waits(&self, id: i64) -> f64 {
        let sql = "SELECT extract(epoch FROM next_attempt_at - now())::float8 FROM notifications WHERE id = $1";
        self.database.raw.query_one(sql, &[&id]).await.unwrap().get(0)
    }
}

pub fn header<'a>(delivery: &'a Delivery, name: &str) -> &'a str {
    delivery.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

pub fn json_of(delivery: &Delivery) -> Value {
    serde_json::from_slice(&delivery.body).unwrap()
}

/// Ids of the deliveries with each its status.
pub fn tries(deliveries: &[Delivery]) -> Vec<(String, u16)> {
    deliveries.iter().map(|delivery| (header(delivery, "webhook-id").to_owned(), delivery.status)).collect()
}
