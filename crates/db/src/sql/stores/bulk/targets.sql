-- stores/bulk/targets.sql: number of stores that match, number of these that the action can change, and at most $max_stores of
-- their ids. Planned for its values. $target_group: the group of the action. $max_groups: of a store
WITH matching AS MATERIALIZED (
  SELECT d.id,
         CASE $action
           WHEN 'crawl' THEN d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
           WHEN 'enable' THEN NOT d.crawl_enabled
           WHEN 'disable' THEN d.crawl_enabled OR d.disabled_reason IS NOT NULL      -- by hand: discovery opens it no more
           WHEN 'add_to_group' THEN $target_group <> ALL (d.groups) AND cardinality(d.groups) < $max_groups
           ELSE $target_group = ANY (d.groups) END AS is_eligible
    FROM dispensaries d
   WHERE {stores/views/filters.sql}
     AND ($ids::bigint[] IS NULL OR d.id = ANY ($ids))
)
SELECT (SELECT count(*) FROM matching) AS matched,
       (SELECT count(*) FROM matching WHERE is_eligible) AS eligible,
       ARRAY (SELECT id FROM matching WHERE is_eligible ORDER BY id LIMIT $max_stores) AS ids
