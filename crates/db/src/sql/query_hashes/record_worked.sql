-- query_hashes/record_worked.sql: records that an endpoint accepted a hash. Minutes are exact enough, and
-- save one write per task. $1 platform, $2 operation, $3 hash, $4 endpoint
WITH here AS (      -- this endpoint's refusal is past
  UPDATE query_hashes
     SET first_ok = coalesce(first_ok, now()), last_ok = now()
   WHERE platform = $1 AND operation = $2 AND hash = $3 AND host_pattern = $4
     AND last_not_found > coalesce(last_ok, '-infinity')
)
INSERT INTO query_hashes AS known (platform, operation, hash, first_ok, last_ok)
VALUES ($1, $2, $3, now(), now())
    ON CONFLICT (platform, operation, hash, host_pattern) DO UPDATE
   SET first_ok = coalesce(known.first_ok, now()), last_ok = now()
 WHERE known.last_ok IS NULL
    OR known.last_ok < now() - interval '1 minute'
    OR known.last_not_found > known.last_ok;
