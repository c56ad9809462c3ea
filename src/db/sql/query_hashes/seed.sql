-- query_hashes/seed.sql: what the configuration knows, oldest first, where the table knows nothing of the platform. $1 platform, $2 operations, $3 hashes
INSERT INTO query_hashes (platform, operation, hash, added_at)
SELECT $1, f.operation, f.hash, now() - make_interval(secs => f.n)
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS f (operation, hash, n)
 WHERE NOT EXISTS (SELECT FROM query_hashes WHERE platform = $1)
    ON CONFLICT DO NOTHING;
