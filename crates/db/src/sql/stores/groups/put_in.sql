-- Puts stores into a group. $1 group, $2 stores
UPDATE dispensaries
   SET groups = array_append(groups, $1), updated_at = now()
 WHERE id = ANY ($2) AND $1 <> ALL (groups)
