-- retailers/matching/forget_proposals.sql: before a match writes its own.
DELETE FROM retailer_proposals;
