-- proxies/change.sql: changes a proxy; its password as stored. NULL changes nothing, an empty state or timezone removes
-- it. The switch and a new password end its cooldown; off ends its benches at hosts too. With a new password its record
-- begins again.
WITH benches AS (
  DELETE FROM proxy_benches WHERE proxy_id = $id AND NOT $is_on
), hosts AS (
  DELETE FROM proxy_hosts WHERE proxy_id = $id AND $password::text IS NOT NULL
)
UPDATE proxies
   SET is_active = coalesce($is_on, is_active OR ($password::text IS NOT NULL AND cooldown_until IS NOT NULL)),
       cooldown_until = CASE WHEN $is_on IS NULL AND $password IS NULL THEN cooldown_until END,
       consecutive_403_count = CASE WHEN $password IS NULL THEN consecutive_403_count ELSE 0 END,
       consecutive_failure_count = CASE WHEN $password IS NULL THEN consecutive_failure_count ELSE 0 END,
       recent_requests = CASE WHEN $password IS NULL THEN recent_requests ELSE 0 END,
       recent_refused = CASE WHEN $password IS NULL THEN recent_refused ELSE 0 END,
       recent_failed = CASE WHEN $password IS NULL THEN recent_failed ELSE 0 END,
       password = coalesce($password, password),
       state_code = CASE WHEN $state::text IS NULL THEN state_code ELSE nullif($state, '') END,
       timezone = CASE WHEN $timezone::text IS NULL THEN timezone ELSE nullif($timezone, '') END,
       updated_at = now()
 WHERE id = $id;
