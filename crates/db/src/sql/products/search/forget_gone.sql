-- products/search/forget_gone.sql: deletes the copies of products whose stores were deleted.
WITH gone AS (
  DELETE FROM search_stores s
   WHERE NOT EXISTS (SELECT FROM dispensaries d WHERE d.id = s.dispensary_id)
  RETURNING s.dispensary_id
), unlisted AS (
  DELETE FROM product_listing l USING gone g WHERE l.dispensary_id = g.dispensary_id
)
DELETE FROM product_search p USING gone g WHERE p.dispensary_id = g.dispensary_id;
