-- The pause of this thing, in force or not. $1 scope, $2 its name.
SELECT id FROM pauses WHERE scope = $1 AND target = $2
