-- query_hashes/record_not_found.sql: records that an endpoint refused a hash. $1 platform, $2 operation, $3
-- hash, $4 endpoint
INSERT INTO query_hashes (platform, operation, hash, host_pattern, last_not_found)
VALUES ($1, $2, $3, $4, now())
    ON CONFLICT (platform, operation, hash, host_pattern) DO UPDATE SET last_not_found = now();
