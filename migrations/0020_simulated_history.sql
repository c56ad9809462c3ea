-- A demo begins with a simulated history of runs, requests and prices. Null: no demo.
ALTER TABLE installation ADD COLUMN simulated_until timestamptz;
