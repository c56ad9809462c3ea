-- stores/delete.sql: deletes store $1. Its products, payloads and pauses go with it; the fetches that it cost
-- stay counted, and its files and its price history go with their retention.
DELETE FROM dispensaries WHERE id = $1;
