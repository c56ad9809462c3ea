-- store_bulk/targets.sql: how many stores match, by the conditions of store_views/list.sql; how many of these the
-- action can change, and their ids. Planned for its values. $1 state, $2 platform, $3 group, $4 whether it is
-- crawled, $5 the state of its crawls, $6 its id, the beginning of its slug, or part of its name or city, $7 ids,
-- $8 action, $9 the group of the action, $10 maximum number of groups of a store, $11 maximum number of ids
WITH matching AS MATERIALIZED (
  SELECT d.id,
         CASE $8
           WHEN 'crawl' THEN d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
           WHEN 'enable' THEN NOT d.crawl_enabled
           WHEN 'disable' THEN d.crawl_enabled OR d.disabled_reason IS NOT NULL      -- by hand: discovery opens it no more
           WHEN 'add_to_group' THEN $9 <> ALL (d.groups) AND cardinality(d.groups) < $10
           ELSE $9 = ANY (d.groups) END AS is_eligible
    FROM dispensaries d
   WHERE ($1 IS NULL OR d.state = upper($1))
     AND ($2 IS NULL OR d.platform = $2)
     AND ($3 IS NULL OR $3 = ANY (d.groups))
     AND ($4 IS NULL OR d.crawl_enabled = $4)
     AND ($5 IS NULL OR d.id IN (SELECT s.dispensary_id FROM v_store_statuses s WHERE s.crawl_status = $5))
     AND ($6 IS NULL OR d.id::text = $6 OR starts_with(lower(d.slug), lower($6)) OR strpos(lower(d.name), lower($6)) > 0
          OR strpos(lower(d.city), lower($6)) > 0)
     AND ($7 IS NULL OR d.id = ANY ($7))
)
SELECT (SELECT count(*) FROM matching) AS matched,
       (SELECT count(*) FROM matching WHERE is_eligible) AS eligible,
       ARRAY (SELECT id FROM matching WHERE is_eligible ORDER BY id LIMIT $11) AS ids
