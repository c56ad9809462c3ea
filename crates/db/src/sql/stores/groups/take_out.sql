-- Takes stores out of a group. $1 group, $2 stores; null: all of them
UPDATE dispensaries
   SET groups = array_remove(groups, $1), updated_at = now()
 WHERE ($2::bigint[] IS NULL OR id = ANY ($2)) AND $1 = ANY (groups)
