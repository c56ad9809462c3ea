-- media/records/delete.sql: removes a record. $1 id
DELETE FROM {table} WHERE id = $1
