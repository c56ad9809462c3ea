-- proxies/change.sql: changes proxy $1. $2 on or off, $3 its password as stored, $4 its state, $5 its
-- timezone; NULL changes nothing, an empty state or timezone removes it. The switch and a new password end
-- its cooldown; off ends its benches at hosts too. With a new password its record begins again.
WITH benches AS (
  DELETE FROM proxy_benches WHERE proxy_id = $1 AND NOT $2
), hosts AS (
  DELETE FROM proxy_hosts WHERE proxy_id = $1 AND $3::text IS NOT NULL
)
UPDATE proxies
   SET is_active = coalesce($2, is_active OR ($3::text IS NOT NULL AND cooldown_until IS NOT NULL)),
       cooldown_until = CASE WHEN $2 IS NULL AND $3 IS NULL THEN cooldown_until END,
       consecutive_403_count = CASE WHEN $3 IS NULL THEN consecutive_403_count ELSE 0 END,
       consecutive_failure_count = CASE WHEN $3 IS NULL THEN consecutive_failure_count ELSE 0 END,
       recent_requests = CASE WHEN $3 IS NULL THEN recent_requests ELSE 0 END,
       recent_refused = CASE WHEN $3 IS NULL THEN recent_refused ELSE 0 END,
       recent_failed = CASE WHEN $3 IS NULL THEN recent_failed ELSE 0 END,
       password = coalesce($3, password),
       state_code = CASE WHEN $4::text IS NULL THEN state_code ELSE nullif($4, '') END,
       timezone = CASE WHEN $5::text IS NULL THEN timezone ELSE nullif($5, '') END,
       updated_at = now()
 WHERE id = $1;
