-- A first crawl takes hundreds of ids at once: a session draws them from the sequence in blocks.
ALTER SEQUENCE store_products_id_seq CACHE 256;
