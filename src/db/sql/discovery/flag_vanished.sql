-- discovery/flag_vanished.sql: flags what a look around in the states $1 did not see again. $2 what it saw (platform ids)
UPDATE dutchie_discovery_locations
   SET vanished_at = now()
 WHERE found_in = ANY($1::text[]) AND vanished_at IS NULL AND platform_dispensary_id <> ALL($2::text[]);
