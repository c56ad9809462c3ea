-- changes/rules/forget_place.sql: a rule that is enabled again begins with the changes that come then. $1 its id
UPDATE change_rules SET seq = NULL WHERE id = $1;
