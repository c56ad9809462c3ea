-- media/accounts/own_items.sql: items that were found at an account. $1 account, $2 their ids
UPDATE media_items SET account_id = $1 WHERE id = ANY ($2)
