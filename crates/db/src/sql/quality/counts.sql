-- quality/counts.sql: how many stores have each fault
SELECT kind, count(*) AS stores FROM quality_findings GROUP BY kind
