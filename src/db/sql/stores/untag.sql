-- stores/untag.sql: takes the stores $2 out of the group $1.
UPDATE dispensaries
   SET groups = array_remove(groups, $1), updated_at = now()
 WHERE id = ANY ($2) AND $1 = ANY (groups);
