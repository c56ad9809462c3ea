-- notifications/end_try.sql: writes how a try to send a notification ended. $wait: seconds until the next try of one that is still
-- pending. $recipients: answers for them by address. $endpoint: one that is gone, and $why
WITH gone AS (
  UPDATE notification_endpoints SET enabled = false, disabled_reason = $why, updated_at = now() WHERE id = $endpoint AND enabled
), due AS (
  -- a test has arrived: the receiver is there again, and none waits for its next try
  UPDATE notifications n
     SET next_attempt_at = now(), updated_at = now()
    FROM notifications test
   WHERE test.id = $id
     AND test.event = 'test'
     AND $state = 'delivered'
     AND n.endpoint_id = test.endpoint_id
     AND n.state = 'pending'
     AND n.id <> $id
     AND n.next_attempt_at > now()
)
UPDATE notifications
   SET state = $state, attempts = attempts + 1, last_status = $status, last_error = $error,
       -- a delivery stays one, whatever another run was answered
       recipients = recipients || $recipients::jsonb || (SELECT coalesce(jsonb_object_agg(r.key, r.value), '{}')
                                                  FROM jsonb_each(recipients) r WHERE r.value ->> 'state' = 'delivered'),
       next_attempt_at = clock_timestamp() + make_interval(secs => $wait),
       ended_at = CASE WHEN $state <> 'pending' THEN clock_timestamp() END, updated_at = clock_timestamp()
 WHERE id = $id AND state = 'pending'
