-- The indexes of $1 that are missing or invalid: built in part by a process that died. $2 needs the extension
-- pg_trgm
SELECT wanted.name, i.indexrelid IS NOT NULL AS is_broken
  FROM unnest($1::text[]) AS wanted(name)
  LEFT JOIN pg_index i ON i.indexrelid = to_regclass(wanted.name)
 WHERE i.indisvalid IS NOT TRUE
   AND (wanted.name <> $2 OR EXISTS (SELECT FROM pg_opclass o WHERE o.opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(o.oid)))
