-- products/images/not_stored.sql: failed images of products and brands of these stores that are not stored, by what
-- becomes of them; refused ones by the host of their address, with one of these. $state, $store: NULL = all. After
-- $max_tries an image is given up
WITH chosen AS (
  SELECT id FROM dispensaries WHERE ($state::text IS NULL OR upper(state) = upper($state)) AND ($store::bigint IS NULL OR id = $store)
), failed AS (
  SELECT f.reason, f.tries, f.image_url
    FROM product_image_failures f
    JOIN store_products p ON p.id = f.product_id AND p.image_url = f.image_url AND p.local_image_path IS NULL
   WHERE p.dispensary_id IN (SELECT id FROM chosen) AND (f.tries >= $max_tries OR f.retry_at > now() OR f.reason = 'refused_host')
  UNION ALL
  SELECT f.reason, f.tries, f.image_url
    FROM brand_image_failures f
    JOIN brands b ON b.id = f.brand_id AND b.image_url = f.image_url AND b.local_image_path IS NULL
   WHERE (f.tries >= $max_tries OR f.retry_at > now() OR f.reason = 'refused_host')
     AND EXISTS (SELECT FROM store_products p WHERE p.brand_image_url = b.image_url AND p.dispensary_id IN (SELECT id FROM chosen))
)
SELECT CASE WHEN reason IN ('refused_host', 'refused_redirect') THEN reason WHEN tries >= $max_tries THEN 'given_up' ELSE 'waiting' END AS state,
       CASE WHEN reason IN ('refused_host', 'refused_redirect') THEN coalesce(substring(image_url from '^[A-Za-z]+://([^/?#]+)'), image_url) END AS host,
       min(image_url) AS address, count(*) AS images
  FROM failed
 GROUP BY 1, 2
 ORDER BY bool_and(reason IN ('refused_host', 'refused_redirect')), images DESC, host
 LIMIT $limit
