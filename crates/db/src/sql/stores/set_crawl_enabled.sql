-- stores/set_crawl_enabled.sql: switches stores on or off by hand: discovery does not change them back, since it closes only stores without
-- a reason, and opens only stores with one. Returns each store with its former value, whether it changed, and whether it was switched on and
-- has no id at its platform. $1 stores, $2 on or off
WITH before AS (
  SELECT id, crawl_enabled, platform_dispensary_id FROM dispensaries WHERE id = ANY ($1) ORDER BY id FOR UPDATE
), changed AS (
  UPDATE dispensaries d
     SET crawl_enabled = $2, disabled_reason = CASE WHEN $2 THEN d.disabled_reason END, updated_at = now()
    FROM before b
   WHERE d.id = b.id
     AND (d.crawl_enabled <> $2 OR (NOT $2 AND d.disabled_reason IS NOT NULL))
  RETURNING d.id
)
SELECT b.id, b.crawl_enabled AS was_enabled, b.id IN (SELECT id FROM changed) AS is_changed,
       $2 AND NOT b.crawl_enabled AND b.platform_dispensary_id IS NULL AS needs_look_up
  FROM before b
