-- hosts/robots/report.sql: records that path $3 breaks rule $2 of authority $1, unless that was recorded within a
-- day.
INSERT INTO robots_breaches AS b (authority, rule, path)
SELECT authority, $2, $3 FROM robots WHERE authority = $1
    ON CONFLICT (authority, rule) DO UPDATE SET path = excluded.path, reported_at = now()
 WHERE b.reported_at <= now() - interval '1 day';
