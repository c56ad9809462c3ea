-- store_bulk/set_crawl_enabled.sql: stores/set_crawl_enabled.sql for many stores. Returns those that changed, and
-- whether each was switched on and has no id at its platform. $1 stores, $2 on or off
WITH before AS (
  SELECT id, crawl_enabled FROM dispensaries WHERE id = ANY ($1) ORDER BY id FOR UPDATE
)
UPDATE dispensaries d
   SET crawl_enabled = $2, disabled_reason = CASE WHEN $2 THEN d.disabled_reason END, updated_at = now()
  FROM before b
 WHERE d.id = b.id
   AND (d.crawl_enabled <> $2 OR (NOT $2 AND d.disabled_reason IS NOT NULL))
RETURNING d.id, $2 AND NOT b.crawl_enabled AND d.platform_dispensary_id IS NULL AS needs_look_up
