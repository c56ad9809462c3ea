-- A platform's shards do not change their hashes at once, so refusals are kept for each endpoint.
COMMENT ON COLUMN query_hashes.host_pattern IS '% = known anywhere; else the endpoint (host/path) that refused it at last_not_found';
