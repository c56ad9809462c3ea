-- counts/stats_minute/begin.sql: the very first turn: begins with the oldest task that has ended, at most $1 seconds
-- ago.
INSERT INTO stats_progress (closed_until)
SELECT date_bin('1 minute', greatest(now() - make_interval(secs => $1), least(now(), (
         SELECT t.completed_at FROM worker_tasks t
          WHERE t.status IN ('completed', 'failed', 'cancelled') ORDER BY t.completed_at LIMIT 1))), timestamptz '2000-01-01 00:00:00Z')
 -- a row that another process has locked would have to be waited for
 WHERE NOT EXISTS (SELECT FROM stats_progress)
    ON CONFLICT DO NOTHING;
