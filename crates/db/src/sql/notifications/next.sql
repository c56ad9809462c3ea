-- notifications/next.sql: the notification that an enabled endpoint is sent next, and how long it waits in seconds. One that waits holds
-- back those behind it, unless it is a mail that waits for some of its recipients alone. $1 endpoint, $2 the age in seconds from which a
-- try is the last
SELECT n.id, coalesce(n.message_id, 'msg_' || n.id) AS message_id, n.event, n.body, n.recipients, n.attempts,
       json_time(n.created_at) AS created_at, e.kind, e.target, e.credential_id, e.previous_credential_id, n.holds_back,
       greatest(date_part('epoch', n.next_attempt_at) - date_part('epoch', now()), 0) AS wait,
       n.created_at < now() - make_interval(secs => $2) AS is_old
  FROM notification_endpoints e
 CROSS JOIN LATERAL (
       (SELECT p.*, true AS holds_back
          FROM notifications p
         WHERE p.endpoint_id = e.id AND p.state = 'pending'
           AND (p.next_attempt_at <= now() OR NOT jsonb_path_exists(p.recipients, '$.* ? (@.state != "waiting")'))
         ORDER BY (p.event <> 'test'), p.id
         LIMIT 1)
       UNION ALL
       (SELECT p.*, false
          FROM notifications p
         WHERE p.endpoint_id = e.id AND p.state = 'pending'
         ORDER BY p.next_attempt_at
         LIMIT 1)
       ORDER BY holds_back DESC
       LIMIT 1) n
 WHERE e.id = $1 AND e.enabled
