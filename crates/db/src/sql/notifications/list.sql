-- notifications/list.sql: notifications for display, by age, after id $after; NULL filters nothing. Times are cut to what Rust can read.
SELECT n.id, n.endpoint_id, e.name AS endpoint, n.event, n.subject, n.body, n.state, n.attempts,
       coalesce(n.message_id, 'msg_' || n.id) AS message_id, n.recipients,
       CASE WHEN n.state = 'pending' THEN json_time(n.next_attempt_at) END AS next_attempt_at, n.last_status, n.last_error,
       json_time(n.created_at) AS created_at, json_time(n.ended_at) AS ended_at
  FROM notifications n
  JOIN notification_endpoints e ON e.id = n.endpoint_id
 WHERE ($id::bigint IS NULL OR n.id = $id)
   AND ($endpoint::bigint IS NULL OR n.endpoint_id = $endpoint)
   AND ($state::text IS NULL OR n.state = $state)
   AND ($after::bigint IS NULL OR n.id {beyond} $after)
 ORDER BY n.id {direction}
 LIMIT $limit
