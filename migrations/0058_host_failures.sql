-- Answers of a host with 5xx: they open its breaker as refusals do. Of late, and since the row was made.
ALTER TABLE hosts ADD COLUMN window_failures double precision NOT NULL DEFAULT 0,
                  ADD COLUMN failures bigint NOT NULL DEFAULT 0;
