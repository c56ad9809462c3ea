-- stores/quality/counts.sql: number of stores with each fault
SELECT kind, count(*) AS stores FROM quality_findings GROUP BY kind
