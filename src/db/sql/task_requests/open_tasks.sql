-- For each request an open task that does the same; null = none. In their order. $1 roles, $2 stores or nulls, $3 platforms or nulls, $4
-- arguments
SELECT open_twin(r.role, r.store, r.platform, NULL, r.args)
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::jsonb[]) WITH ORDINALITY AS r(role, store, platform, args, ord)
 ORDER BY r.ord
