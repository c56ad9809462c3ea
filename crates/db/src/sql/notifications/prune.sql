-- notifications/prune.sql: removes at most $3 ended notifications, the oldest first. $1 seconds for delivered, $2 for failed ones
DELETE FROM notifications
 WHERE id IN (SELECT n.id
                FROM notifications n
               WHERE n.state <> 'pending' AND n.ended_at < now() - make_interval(secs => least($1::float8, $2::float8))
                 AND n.ended_at < now() - make_interval(secs => CASE n.state WHEN 'failed' THEN $2 ELSE $1 END)
               ORDER BY n.ended_at
               LIMIT $3)
