-- hosts/rotating_values/keep_key.sql: keeps a key of platform $1 that was read now: its digest $2, and the sealed key $3 or null.
-- A page that shows a refused key has not changed its mind: the refusal stays. Former keys are not needed any more.
WITH former AS (
  UPDATE rotating_values SET sealed = NULL
   WHERE platform = $1 AND name = 'key' AND endpoint = '%' AND value <> $2 AND sealed IS NOT NULL
)
INSERT INTO rotating_values AS known (platform, name, value, sealed)
VALUES ($1, 'key', $2, $3)
    ON CONFLICT (platform, name, value, endpoint) DO UPDATE SET sealed = excluded.sealed, added_at = now();
