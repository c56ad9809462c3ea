-- retailers/keep_apart.sql: a store is none of the others. $1 id, $2 ids of the others
INSERT INTO stores_apart (one, other)
SELECT least($1, o.id), greatest($1, o.id) FROM unnest($2::bigint[]) AS o(id) WHERE o.id <> $1
    ON CONFLICT DO NOTHING;
