-- retailers/forget_pair.sql: forgets the proposal about two stores. $1 the smaller id, $2 the other
DELETE FROM retailer_proposals WHERE one = $1 AND other = $2;
