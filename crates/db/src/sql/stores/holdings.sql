-- stores/holdings.sql: what is kept of store $1, and whether discovery found it
SELECT (SELECT count(*) FROM store_products p WHERE p.dispensary_id = $1) AS products,
       (SELECT count(*) FROM raw_crawl_payloads r WHERE r.dispensary_id = $1) AS payloads,
       EXISTS (SELECT FROM found_stores l WHERE l.dispensary_id = $1) AS is_discovered;
