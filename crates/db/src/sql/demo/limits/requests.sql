-- demo/limits/requests.sql: deletes real counts of requests by minute that are older than two days
DELETE FROM fetch_minute WHERE process <> 0 AND minute < now() - interval '2 days'
