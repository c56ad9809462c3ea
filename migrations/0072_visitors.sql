-- How many requests consumers made, by where they came from and hour: no addresses. Of an unknown place country and region are empty.
CREATE TABLE visitor_hours (
  hour     timestamptz NOT NULL,
  country  text NOT NULL,
  region   text NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (hour, country, region)
);
