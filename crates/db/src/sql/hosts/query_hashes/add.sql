-- hosts/query_hashes/add.sql: adds the hashes that the table lacks, as untried ones. $1 platform, $2 operations, $3
-- hashes, newest first
INSERT INTO query_hashes (platform, operation, hash, added_at)
SELECT $1, f.operation, f.hash, now() - make_interval(secs => f.n)
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS f (operation, hash, n)
    ON CONFLICT DO NOTHING;
