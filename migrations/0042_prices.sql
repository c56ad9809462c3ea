-- Prices by unit, compared week by week, and the prices that changed on each day. Both are written by analytics_refresh.

-- Prices by unit of options in stock, in the stores that were crawled whole in the last seven days of the week. '' = all of them together:
-- things without a state, category or brand are counted there alone. Prices are millicents (thousandths of a cent) by unit.
CREATE TABLE unit_price_weeks (
  week         date NOT NULL,        -- its Monday (UTC)
  state        text NOT NULL,
  category     text NOT NULL,        -- canonical
  brand_key    text NOT NULL,
  unit         text NOT NULL,        -- g, ml, mg_thc; '' = all options, those without a price by unit among them
  brand        text,                 -- as a platform writes it
  stores       integer NOT NULL,
  options      integer NOT NULL,
  price_min    bigint,
  price_p25    bigint,
  price_median bigint,
  price_p75    bigint,
  price_max    bigint,
  PRIMARY KEY (week, state, category, brand_key, unit)
);
-- One brand, week by week.
CREATE INDEX unit_price_weeks_brand ON unit_price_weeks (brand_key, state, category, unit, week);

-- Options whose price changed, once a day (UTC): by these a comparison with any day finds what it has to look at.
CREATE TABLE daily_price_changes (
  day                date NOT NULL,
  store_product_id   bigint NOT NULL,
  changed_at         timestamptz NOT NULL,     -- the last change of the day
  dispensary_id      bigint NOT NULL,
  nth                smallint NOT NULL,
  size               real NOT NULL,            -- percent up or down, of the largest change of the day
  option_label       text NOT NULL,
  state              text,
  canonical_category text,
  brand_key          text,
  PRIMARY KEY (day, store_product_id, option_label, nth)
);
-- The largest changes of a day; entries of another state or category are left out without a look at the table.
CREATE INDEX daily_price_changes_size ON daily_price_changes (day, size DESC, state, canonical_category);
CREATE INDEX daily_price_changes_brand ON daily_price_changes (brand_key, day, size DESC);
CREATE INDEX daily_price_changes_store ON daily_price_changes (dispensary_id, day, size DESC);
