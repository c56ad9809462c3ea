-- retailers/add.sql: adds a retailer. $1 name, $2 state
INSERT INTO retailers (name, state) VALUES ($1, $2) RETURNING id;
