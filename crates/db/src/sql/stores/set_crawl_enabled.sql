-- stores/set_crawl_enabled.sql: switches a store on or off by hand: discovery does not change it back,
-- since it closes only stores without a reason, and opens only stores with one.
-- Returns the former value. $1 store, $2 on or off
WITH before AS (
  SELECT id, crawl_enabled FROM dispensaries WHERE id = $1 FOR UPDATE
), changed AS (
  UPDATE dispensaries d
     SET crawl_enabled = $2, disabled_reason = CASE WHEN $2 THEN d.disabled_reason END, updated_at = now()
    FROM before b
   WHERE d.id = b.id
     AND (d.crawl_enabled <> $2 OR (NOT $2 AND d.disabled_reason IS NOT NULL))
)
SELECT crawl_enabled FROM before;
