SELECT settle_task($1, $2, $3, $4, $5, $6, make_interval(secs => $7), make_interval(secs => $8), $9)
