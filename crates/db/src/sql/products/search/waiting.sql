-- products/search/waiting.sql: stores whose names were not copied since their products came from another
-- payload, the longest crawled first. $1 at most
SELECT d.id
  FROM dispensaries d
  LEFT JOIN search_stores s ON s.dispensary_id = d.id
 WHERE d.last_payload_id IS DISTINCT FROM s.listed_payload_id
 ORDER BY d.last_crawl_at, d.id
 LIMIT $1;
