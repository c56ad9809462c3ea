//! Receivers of webhooks, of ntfy's messages and of mails.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sim::media::{HookAnswer, HookScript, Login, MailLogin, MediaPlan, MediaSite};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::client::{get, post, start};

async fn statuses(site: &MediaSite, count: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..count {
        statuses.push(post(site, "/hooks/a", &[], "{}").await.status.as_u16());
    }
    statuses
}

#[tokio::test]
async fn a_delivery_is_kept_with_its_headers_and_body() {
    let site = start().await;
    post(&site, "/hooks/a", &[("webhook-id", "msg_1"), ("webhook-signature", "v1,x")], "{\"type\":\"t\"}").await;
    let [delivery] = site.deliveries("a").try_into().unwrap();
    assert_eq!((delivery.headers["webhook-id"].to_str().unwrap(), delivery.status), ("msg_1", 200));
    assert_eq!(delivery.body, "{\"type\":\"t\"}");
    assert!(site.deliveries("b").is_empty());
    assert_eq!(get(&site, "/hooks/a").await.status, 405);
}

#[tokio::test]
async fn a_script_is_answered_once_or_in_a_cycle() {
    let site = start().await;
    site.script_hook("a", HookScript::Once(vec![HookAnswer::Status(500), HookAnswer::Status(410)]));
    assert_eq!(statuses(&site, 4).await, [500, 410, 200, 200]);
    site.script_hook("a", HookScript::Cycle(vec![HookAnswer::Status(503), HookAnswer::Status(204)]));
    assert_eq!(statuses(&site, 5).await, [503, 204, 503, 204, 503]);
    let kept: Vec<u16> = site.deliveries("a").iter().map(|delivery| delivery.status).collect();
    assert_eq!(kept, [500, 410, 200, 200, 503, 204, 503, 204, 503]);
}

#[tokio::test]
async fn a_receiver_redirects_throttles_and_takes_its_time() {
    let site = start().await;
    let slow = HookAnswer::Slow(Duration::from_millis(50));
    let throttled = HookAnswer::Throttled { retry_after: Some(Duration::from_secs(7)) };
    site.script_hook("a", HookScript::Once(vec![HookAnswer::Redirect, throttled, slow]));
    let redirect = post(&site, "/hooks/a", &[], "").await;
    assert_eq!(
        (redirect.status.as_u16(), redirect.header("location")),
        (302, &*format!("{}/hooks/a", site.elsewhere()))
    );
    let throttled = post(&site, "/hooks/a", &[], "").await;
    assert_eq!((throttled.status.as_u16(), throttled.header("retry-after")), (429, "7"));
    let started = std::time::Instant::now();
    assert_eq!(post(&site, "/hooks/a", &[], "").await.status, 200);
    assert!(started.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let site = start().await;
    let answer = post(&site, "/hooks/a", &[], &"x".repeat((1 << 20) + 1)).await;
    assert_eq!((answer.status.as_u16(), site.deliveries("a").len()), (413, 0));
}

#[tokio::test]
async fn a_topic_keeps_its_messages_and_may_need_a_token() {
    let plan = MediaPlan { ntfy_token: Some("tk_1".to_owned()), ..MediaPlan::default() };
    let site = MediaSite::start(plan).await.unwrap();
    assert_eq!(post(&site, "/ntfy/jobs", &[], "no").await.status, 403);
    let answer = post(&site, "/ntfy/jobs", &[("authorization", "Bearer tk_1"), ("title", "Done")], "yes").await;
    assert_eq!((answer.status.as_u16(), answer.json()["topic"].as_str()), (200, Some("jobs")));
    let messages = site.ntfy_messages("jobs");
    assert_eq!(messages.iter().map(|message| message.status).collect::<Vec<_>>(), [403, 200]);
    assert_eq!((&messages[1].headers["title"], &messages[1].body[..]), (&"Done".parse().unwrap(), &b"yes"[..]));
}

struct Smtp(BufReader<TcpStream>);

impl Smtp {
    async fn connect(site: &MediaSite) -> Smtp {
        let mut smtp = Smtp(BufReader::new(TcpStream::connect(site.mail_address()).await.unwrap()));
        assert!(smtp.answer().await.starts_with("220 "));
        smtp
    }

    async fn say(&mut self, text: &str) -> String {
        self.0.get_mut().write_all(format!("{text}\r\n").as_bytes()).await.unwrap();
        self.answer().await
    }

    /// The last line of an answer.
    async fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await.unwrap();
            if line.as_bytes().get(3) != Some(&b'-') {
                return line.trim_end().to_owned();
            }
        }
    }
}

#[tokio::test]
async fn a_mail_is_kept_as_it_was_sent() {
    let site = start().await;
    let mut smtp = Smtp::connect(&site).await;
    assert!(smtp.say("EHLO client").await.contains("AUTH PLAIN LOGIN"));
    smtp.say(&format!("AUTH PLAIN {}", BASE64_STANDARD.encode("\0ann\0secret"))).await;
    smtp.say("MAIL FROM:<a@x.example> BODY=8BITMIME").await;
    smtp.say("RCPT TO:<b@x.example>").await;
    smtp.say("RCPT TO:<c@x.example>").await;
    assert!(smtp.say("DATA").await.starts_with("354"));
    assert!(smtp.say("Subject: Done\r\n\r\n..dot\r\nend\r\n.").await.starts_with("250"));
    assert!(smtp.say("QUIT").await.starts_with("221"));
    let [mail] = site.mails().try_into().unwrap();
    let (username, password) = ("ann".to_owned(), "secret".to_owned());
    assert_eq!(mail.login, Some(MailLogin { mechanism: "PLAIN", username, password }));
    assert_eq!(
        (mail.from.as_str(), mail.to.as_slice()),
        ("a@x.example", &["b@x.example".into(), "c@x.example".into()][..])
    );
    assert_eq!(mail.data, "Subject: Done\r\n\r\n.dot\r\nend\r\n");
}

#[tokio::test]
async fn a_receiver_of_mails_may_need_a_login() {
    let plan = MediaPlan { mail_login: Some(Login::new("ann", "secret")), ..MediaPlan::default() };
    let site = MediaSite::start(plan).await.unwrap();
    let mut smtp = Smtp::connect(&site).await;
    smtp.say("EHLO client").await;
    assert!(smtp.say("MAIL FROM:<a@x.example>").await.starts_with("530"));
    for (password, code) in [("wrong", "535"), ("secret", "235")] {
        smtp.say("AUTH LOGIN").await;
        assert!(smtp.say(&BASE64_STANDARD.encode("ann")).await.starts_with("334"));
        assert!(smtp.say(&BASE64_STANDARD.encode(password)).await.starts_with(code));
    }
    assert!(smtp.say("MAIL FROM:<a@x.example>").await.starts_with("250"));
    assert!(smtp.say("DATA").await.starts_with("503"));
}
