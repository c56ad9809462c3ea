-- proxies/set_active.sql: the operator's switch. $1 id, $2 on; either way the cooldown is over.
UPDATE proxies SET is_active = $2, cooldown_until = NULL, updated_at = now() WHERE id = $1;
