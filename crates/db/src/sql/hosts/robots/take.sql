-- hosts/robots/take.sql: gives the fetch of authority $1 (host $2) to this process for $3 seconds, if it is due and
-- no other process has it.
INSERT INTO robots AS r (authority, host, fetching_until)
VALUES ($1, $2, now() + make_interval(secs => $3::float8))
    ON CONFLICT (authority) DO UPDATE SET fetching_until = excluded.fetching_until
 WHERE r.next_fetch_at <= now() AND (r.fetching_until IS NULL OR r.fetching_until <= now());
