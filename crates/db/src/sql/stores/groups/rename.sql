-- Gives a group, and its schedules, another name. $1 old name, $2 new name
WITH scheduled AS (
  UPDATE task_schedules SET group_name = $2, version = version + 1, updated_at = now() WHERE group_name = $1
)
UPDATE dispensaries SET groups = array_replace(groups, $1, $2), updated_at = now() WHERE $1 = ANY (groups)
