-- notifications/end_try.sql: writes how a try to send a notification ended. $1 id, $2 state, $3 status, $4 error, $5 seconds until the
-- next try of one that is still pending, $6 answers for its recipients by address, $7 the endpoint that is gone, $8 the reason
WITH gone AS (
  UPDATE notification_endpoints SET enabled = false, disabled_reason = $8, updated_at = now() WHERE id = $7 AND enabled)
UPDATE notifications
   SET state = $2, attempts = attempts + 1, last_status = $3, last_error = $4,
       -- a delivery stays one, whatever another run was answered
       recipients = recipients || $6::jsonb || (SELECT coalesce(jsonb_object_agg(r.key, r.value), '{}')
                                                  FROM jsonb_each(recipients) r WHERE r.value ->> 'state' = 'delivered'),
       next_attempt_at = clock_timestamp() + make_interval(secs => $5),
       ended_at = CASE WHEN $2 <> 'pending' THEN clock_timestamp() END, updated_at = clock_timestamp()
 WHERE id = $1 AND state = 'pending'
