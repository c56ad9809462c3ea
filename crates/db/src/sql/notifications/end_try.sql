-- notifications/end_try.sql: writes how a try to send a notification ended. $1 id, $2 state, $3 status, $4 error, $5 seconds until the
-- next try of one that is still pending
UPDATE notifications
   SET state = $2, attempts = attempts + 1, last_status = $3, last_error = $4,
       next_attempt_at = clock_timestamp() + make_interval(secs => $5),
       ended_at = CASE WHEN $2 <> 'pending' THEN clock_timestamp() END, updated_at = clock_timestamp()
 WHERE id = $1 AND state = 'pending'
