-- The tables of every peer but drover: a product is one row, with its options as arrays.
CREATE TABLE products (
  store             integer NOT NULL,      -- position in the list of stores
  id                text NOT NULL,
  name              text NOT NULL,
  brand             text,
  category          text,
  subcategory       text,
  strain_type       text,
  image_url         text,
  price_rec         integer,
  price_med         integer,
  special_rec       integer,
  special_med       integer,
  thc_min           double precision,
  thc_max           double precision,
  cbd_min           double precision,
  cbd_max           double precision,
  quantity          integer,
  quantity_censored boolean NOT NULL,
  stock_status      text NOT NULL,
  option_labels     text[] NOT NULL,
  option_size_mg    bigint[] NOT NULL,
  option_size_ml    double precision[] NOT NULL,
  option_rec        integer[] NOT NULL,
  option_med        integer[] NOT NULL,
  option_special_rec integer[] NOT NULL,
  option_special_med integer[] NOT NULL,
  option_quantity   integer[] NOT NULL,
  PRIMARY KEY (store, id)
);

CREATE TABLE snapshots (
  store        integer NOT NULL,
  id           text NOT NULL,
  crawled_at   timestamptz NOT NULL,
  price_rec    integer,
  price_med    integer,
  special_rec  integer,
  special_med  integer,
  thc_min      double precision,
  thc_max      double precision,
  quantity     integer,
  stock_status text NOT NULL,
  PRIMARY KEY (store, id, crawled_at)
);
