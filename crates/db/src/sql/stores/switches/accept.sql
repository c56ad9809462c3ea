-- stores/switches/accept.sql: the next answers that would switch the store $1 off among others are believed. Returns their number.
UPDATE suspicious_switches SET accepted_at = coalesce(accepted_at, now()) WHERE $1::bigint = ANY (dispensary_ids);
