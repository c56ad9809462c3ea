-- stores/set_crawl_enabled.sql: switches a store on or off by hand: discovery does not change it back.
-- Returns the former value. $1 store, $2 on or off
WITH before AS (
  SELECT id, crawl_enabled FROM dispensaries WHERE id = $1 FOR UPDATE
), changed AS (
  UPDATE dispensaries d
     SET crawl_enabled = $2, disabled_reason = NULL, updated_at = now()
    FROM before b
   WHERE d.id = b.id
     AND (d.crawl_enabled <> $2 OR d.disabled_reason IS NOT NULL)
)
SELECT crawl_enabled FROM before;
