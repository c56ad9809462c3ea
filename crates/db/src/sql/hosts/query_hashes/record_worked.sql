-- hosts/query_hashes/record_worked.sql: records that an endpoint accepted a hash. Minutes are exact enough, and
-- save one write per task.
WITH here AS (      -- this endpoint's refusal is past
  UPDATE query_hashes
     SET first_ok = coalesce(first_ok, now()), last_ok = now()
   WHERE platform = $platform AND operation = $operation AND hash = $hash AND host_pattern = $endpoint
     AND last_not_found > coalesce(last_ok, '-infinity')
)
INSERT INTO query_hashes AS known (platform, operation, hash, first_ok, last_ok)
VALUES ($platform, $operation, $hash, now(), now())
    ON CONFLICT (platform, operation, hash, host_pattern) DO UPDATE
   SET first_ok = coalesce(known.first_ok, now()), last_ok = now()
 WHERE known.last_ok IS NULL
    OR known.last_ok < now() - interval '1 minute'
    OR known.last_not_found > known.last_ok;
