-- demo/history/empty_menus.sql: the empty menus of the last three days that the store $1 was not believed
INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count, proxy_id)
SELECT $1::bigint, now() - make_interval(days => n), 0, NULL FROM generate_series(1, 3) AS n
    ON CONFLICT DO NOTHING
