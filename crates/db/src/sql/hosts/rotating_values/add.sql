-- hosts/rotating_values/add.sql: adds the values that the table lacks, as untried ones. $1 platform, $2 names, $3
-- values, newest first
INSERT INTO rotating_values (platform, name, value, added_at)
SELECT $1, f.name, f.value, now() - make_interval(secs => f.n)
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS f (name, value, n)
    ON CONFLICT DO NOTHING;
