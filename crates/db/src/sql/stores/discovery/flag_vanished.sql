-- stores/discovery/flag_vanished.sql: flags stores that a discovery run in the states $1 did not see again. $2 seen ids, of
-- platform $3.
UPDATE found_stores l
   SET vanished_at = now()
 WHERE l.platform = $3
   AND l.found_in = ANY ($1::text[])
   AND l.vanished_at IS NULL
   AND l.platform_dispensary_id <> ALL ($2::text[]);
