-- notifications/next.sql: the notification that an enabled endpoint is sent next, and how long it waits in seconds. $1 endpoint, $2 the
-- age in seconds from which a try is the last
SELECT n.id, n.event, n.body, n.attempts, json_time(n.created_at) AS created_at, e.kind, e.target, e.credential_id,
       e.previous_credential_id, greatest(date_part('epoch', n.next_attempt_at) - date_part('epoch', now()), 0) AS wait,
       n.created_at < now() - make_interval(secs => $2) AS is_old
  FROM notification_endpoints e
 CROSS JOIN LATERAL (
       SELECT p.* FROM notifications p
        WHERE p.endpoint_id = e.id AND p.state = 'pending'
        ORDER BY (p.event <> 'test'), p.id
        LIMIT 1) n
 WHERE e.id = $1 AND e.enabled
