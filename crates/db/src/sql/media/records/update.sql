-- media/records/update.sql: changes a record. $1 id, $2 the fields to change
UPDATE {table} r
   SET ({fields}) = (SELECT {fields} FROM jsonb_populate_record(r, $2)),
       updated_at = now()
 WHERE r.id = $1
