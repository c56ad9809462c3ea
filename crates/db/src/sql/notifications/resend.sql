-- notifications/resend.sql: lets a notification be sent again, with all of its tries; a mail that did not reach all of its recipients
-- goes to the others alone. $1 id
UPDATE notifications
   SET state = 'pending', attempts = 0, next_attempt_at = now(), last_status = NULL, last_error = NULL, ended_at = NULL, updated_at = now(),
       recipients = CASE WHEN EXISTS (SELECT FROM jsonb_each(recipients) r WHERE r.value ->> 'state' <> 'delivered')
                         THEN (SELECT coalesce(jsonb_object_agg(r.key, r.value), '{}')
                                 FROM jsonb_each(recipients) r WHERE r.value ->> 'state' = 'delivered')
                         ELSE '{}' END
 WHERE id = $1
