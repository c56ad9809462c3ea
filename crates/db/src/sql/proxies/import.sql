-- proxies/import.sql: adds proxies, or changes existing ones. Returns for each changed row whether it is new; equal
-- rows are not touched.
WITH renewed AS (
  DELETE FROM proxy_hosts
   USING unnest($protocols::text[], $hosts::text[], $ports::int[], $usernames::text[], $passwords::text[]) AS n(protocol, host, port, username, password)
    JOIN proxies p ON (p.protocol, p.host, p.port) = (n.protocol, n.host, n.port) AND p.username IS NOT DISTINCT FROM n.username
   WHERE proxy_hosts.proxy_id = p.id AND p.password IS DISTINCT FROM n.password
)
INSERT INTO proxies AS p (protocol, host, port, username, password, state_code, timezone)
SELECT * FROM unnest($protocols::text[], $hosts::text[], $ports::int[], $usernames::text[], $passwords::text[], $states::text[], $timezones::text[])
    ON CONFLICT ON CONSTRAINT proxies_address_key DO UPDATE
   SET password = excluded.password,
       state_code = coalesce(excluded.state_code, p.state_code),
       timezone = coalesce(excluded.timezone, p.timezone),
       -- a new password ends the cooldown of a benched proxy, and never switches one on
       is_active = p.is_active OR (p.cooldown_until IS NOT NULL AND p.password IS DISTINCT FROM excluded.password),
       cooldown_until = CASE WHEN p.password IS NOT DISTINCT FROM excluded.password THEN p.cooldown_until END,
       -- and begins its record again
       consecutive_403_count = CASE WHEN p.password IS NOT DISTINCT FROM excluded.password THEN p.consecutive_403_count ELSE 0 END,
       consecutive_failure_count = CASE WHEN p.password IS NOT DISTINCT FROM excluded.password THEN p.consecutive_failure_count ELSE 0 END,
       recent_requests = CASE WHEN p.password IS NOT DISTINCT FROM excluded.password THEN p.recent_requests ELSE 0 END,
       recent_refused = CASE WHEN p.password IS NOT DISTINCT FROM excluded.password THEN p.recent_refused ELSE 0 END,
       recent_failed = CASE WHEN p.password IS NOT DISTINCT FROM excluded.password THEN p.recent_failed ELSE 0 END,
       updated_at = now()
 WHERE (p.password, p.state_code, p.timezone) IS DISTINCT FROM
       (excluded.password, coalesce(excluded.state_code, p.state_code), coalesce(excluded.timezone, p.timezone))
RETURNING xmax = 0 AS created;
