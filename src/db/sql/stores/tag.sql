-- stores/tag.sql: puts the stores $2 into the group $1.
UPDATE dispensaries
   SET groups = array_append(groups, $1), updated_at = now()
 WHERE id = ANY ($2) AND $1 <> ALL (groups);
