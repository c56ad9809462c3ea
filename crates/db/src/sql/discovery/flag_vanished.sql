-- discovery/flag_vanished.sql: flags stores that a discovery run in the states $1 did not see again. $2 seen
-- ids, of platform $3. When more than half of a state's stores (three or more) would vanish at once, the
-- answer is at fault, not the stores.
WITH missing AS MATERIALIZED (
  SELECT platform_dispensary_id,
         is_missing,
         2 * count(*) FILTER (WHERE is_missing) OVER (PARTITION BY found_in) > count(*) OVER (PARTITION BY found_in)
         AND count(*) OVER (PARTITION BY found_in) > 2 AS is_suspicious
    FROM (SELECT platform_dispensary_id, found_in, platform_dispensary_id <> ALL($2::text[]) AS is_missing
            FROM dutchie_discovery_locations
           WHERE platform = $3
             AND found_in = ANY($1::text[])
             AND vanished_at IS NULL) known
)
UPDATE dutchie_discovery_locations l
   SET vanished_at = now()
  FROM missing m
 WHERE l.platform = $3
   AND l.platform_dispensary_id = m.platform_dispensary_id
   AND m.is_missing
   AND NOT m.is_suspicious;
