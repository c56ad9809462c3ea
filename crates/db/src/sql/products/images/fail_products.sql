-- products/images/fail_products.sql: tries that failed, of distinct products. $seconds: wait after the first failure
INSERT INTO product_image_failures AS f (product_id, image_url, reason, tries, retry_at)
SELECT owner.id, failed.url, failed.reason, 1, now() + make_interval(secs => $seconds)
  FROM unnest($ids::bigint[], $urls::text[], $reasons::text[]) AS failed (id, url, reason)
  JOIN store_products owner USING (id)
 ORDER BY owner.id
    ON CONFLICT (product_id) DO UPDATE
       SET tries = CASE WHEN f.image_url = EXCLUDED.image_url THEN f.tries + 1 ELSE 1 END,
           retry_at = now() + make_interval(secs => $seconds * CASE WHEN f.image_url = EXCLUDED.image_url THEN 2 ^ least(f.tries, 10) ELSE 1 END),
           image_url = EXCLUDED.image_url, reason = EXCLUDED.reason, failed_at = now();
