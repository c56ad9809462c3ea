-- products/images/stores.sql: stores whose images a backfill processes. $1 state, $2 store; NULL = all
SELECT id FROM dispensaries WHERE ($1::text IS NULL OR upper(state) = upper($1)) AND ($2::bigint IS NULL OR id = $2) ORDER BY id;
