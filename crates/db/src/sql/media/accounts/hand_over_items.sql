-- media/accounts/hand_over_items.sql: the items of an account that is removed go to another that shares them. $1 account
UPDATE media_items i
   SET account_id = heir.account_id
  FROM (SELECT item_id, min(account_id) AS account_id FROM media_shared_items WHERE account_id <> $1 GROUP BY item_id) heir
 WHERE i.account_id = $1 AND heir.item_id = i.id
