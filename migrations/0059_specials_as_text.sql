-- Specials are kept as the text that was read: to parse them took a fiftieth of a small store's crawl, and few are looked at.
-- product_specials() parses those.
ALTER TABLE store_specials ALTER COLUMN specials TYPE text USING specials::text;
