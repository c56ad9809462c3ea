-- Those of the indexes $1 that are not there, or broken off: made in part by a process that died.
SELECT wanted.name, i.indexrelid IS NOT NULL AS is_broken
  FROM unnest($1::text[]) AS wanted(name)
  LEFT JOIN pg_index i ON i.indexrelid = to_regclass(wanted.name)
 WHERE i.indisvalid IS NOT TRUE
