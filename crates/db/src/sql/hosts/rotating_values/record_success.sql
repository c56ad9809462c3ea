-- hosts/rotating_values/record_success.sql: records that an endpoint accepted a value. Minutes are exact enough, and
-- save one write per task.
WITH here AS (      -- this endpoint's refusal is past
  UPDATE rotating_values
     SET first_success_at = coalesce(first_success_at, now()), last_success_at = now()
   WHERE platform = $platform AND name = $name AND value = $value AND endpoint = $endpoint
     AND last_refusal_at > coalesce(last_success_at, '-infinity')
)
INSERT INTO rotating_values AS known (platform, name, value, first_success_at, last_success_at)
VALUES ($platform, $name, $value, now(), now())
    ON CONFLICT (platform, name, value, endpoint) DO UPDATE
   SET first_success_at = coalesce(known.first_success_at, now()), last_success_at = now()
 WHERE known.last_success_at IS NULL
    OR known.last_success_at < now() - interval '1 minute'
    OR known.last_refusal_at > known.last_success_at;
