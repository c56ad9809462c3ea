-- exports/pin_plans.sql: pins the plans of this transaction: rows are found by their keys, whatever the statistics say. Crawls are not
-- sorted, but read in the order of their times: the rest of the feed would be sorted for each chunk.
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true);
