-- Changes since a time, in SQL (drover_v1.changes).
CREATE INDEX change_batches_crawled ON change_batches (crawled_at) WHERE seq IS NOT NULL;
