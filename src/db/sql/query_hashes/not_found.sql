-- query_hashes/not_found.sql: a hash was refused. $1 platform, $2 operation, $3 hash
UPDATE query_hashes SET last_not_found = now() WHERE platform = $1 AND operation = $2 AND hash = $3;
