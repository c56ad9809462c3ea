-- server_info/refresh_store_summary.sql: readers go on reading the old rows meanwhile.
REFRESH MATERIALIZED VIEW CONCURRENTLY mv_store_summary;
