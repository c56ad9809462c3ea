-- products/images/failed.sql: number of failed images by reason; refused ones by the host of their address, with one of these. $1: maximum
-- number of rows
SELECT reason, min(image_url) AS address, count(*) AS images
  FROM (SELECT reason, image_url FROM product_image_failures UNION ALL SELECT reason, image_url FROM brand_image_failures) f
 GROUP BY reason, CASE WHEN reason = 'refused_host' THEN substring(image_url from '^[A-Za-z]+://([^/?#]+)') END
 ORDER BY reason = 'refused_host', images DESC
 LIMIT $1
