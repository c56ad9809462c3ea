-- The changes of the products that have some words.
CREATE INDEX daily_price_changes_product ON daily_price_changes (store_product_id, day);
