-- media/records/insert.sql: adds a record, unless there is one already. $1 its fields
INSERT INTO {table} ({fields})
SELECT {fields} FROM jsonb_populate_record(NULL::{table}, $1)
RETURNING id
