-- jobs/insert.sql: queues a job. $1 type, $2 platform, $3 account, $4 its priority, $5 arguments, $6 time, $7
-- retries, $8 tasks it waits for
SELECT insert_job($1, $2, $3, $4, $5, $6, $7, $8)
