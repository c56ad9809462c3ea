-- Hosts whose breaker is open or half-open.
SELECT count(*) AS held FROM hosts WHERE breaker <> 'closed'
