-- store_bulk/targets.sql: number of stores that match, number of these that the action can change, and their ids. Planned for its values.
-- $7 ids, $8 action, $9 the group of the action, $10 maximum number of groups of a store, $11 maximum number of ids
WITH matching AS MATERIALIZED (
  SELECT d.id,
         CASE $8
           WHEN 'crawl' THEN d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
           WHEN 'enable' THEN NOT d.crawl_enabled
           WHEN 'disable' THEN d.crawl_enabled OR d.disabled_reason IS NOT NULL      -- by hand: discovery opens it no more
           WHEN 'add_to_group' THEN $9 <> ALL (d.groups) AND cardinality(d.groups) < $10
           ELSE $9 = ANY (d.groups) END AS is_eligible
    FROM dispensaries d
   WHERE {store_filters}
     AND ($7 IS NULL OR d.id = ANY ($7))
)
SELECT (SELECT count(*) FROM matching) AS matched,
       (SELECT count(*) FROM matching WHERE is_eligible) AS eligible,
       ARRAY (SELECT id FROM matching WHERE is_eligible ORDER BY id LIMIT $11) AS ids
