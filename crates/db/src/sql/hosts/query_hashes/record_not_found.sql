-- hosts/query_hashes/record_not_found.sql: records that an endpoint refused a hash.
INSERT INTO query_hashes (platform, operation, hash, host_pattern, last_not_found)
VALUES ($platform, $operation, $hash, $endpoint, now())
    ON CONFLICT (platform, operation, hash, host_pattern) DO UPDATE SET last_not_found = now();
