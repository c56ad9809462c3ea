-- notifications/resend.sql: lets a notification be sent again, with all of its tries. $1 id
UPDATE notifications
   SET state = 'pending', attempts = 0, next_attempt_at = now(), last_status = NULL, last_error = NULL, ended_at = NULL, updated_at = now()
 WHERE id = $1
