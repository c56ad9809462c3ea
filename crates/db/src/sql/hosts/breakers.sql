-- hosts/breakers.sql: number of hosts by the state of their breaker.
SELECT breaker, count(*) AS hosts FROM hosts GROUP BY breaker
