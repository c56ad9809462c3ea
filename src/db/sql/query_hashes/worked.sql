-- query_hashes/worked.sql: a hash was accepted. Minutes are exact enough, and spare a write a task. $1 platform, $2 operation, $3 hash
INSERT INTO query_hashes AS h (platform, operation, hash, first_ok, last_ok)
VALUES ($1, $2, $3, now(), now())
    ON CONFLICT (platform, operation, hash, host_pattern) DO UPDATE
   SET first_ok = coalesce(h.first_ok, now()), last_ok = now()
 WHERE h.last_ok IS NULL OR h.last_ok < now() - interval '1 minute' OR h.last_not_found > h.last_ok;
