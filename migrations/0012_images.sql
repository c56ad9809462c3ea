-- Images: brands with their logos, and failed downloads. The path of a stored image is in the row of its product or brand.

CREATE TABLE brands (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name             text NOT NULL,
  slug             text NOT NULL UNIQUE,
  -- The URL in the feed, used while no logo is stored.
  image_url        text,
  -- Relative to the storage root.
  local_image_path text,
  updated_at       timestamptz NOT NULL DEFAULT now()
);

-- Number of images ever stored, and their bytes as downloaded. One row, so that no query has to count products.
CREATE TABLE image_totals (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  stored      bigint NOT NULL DEFAULT 0,
  bytes       bigint NOT NULL DEFAULT 0
);
INSERT INTO image_totals DEFAULT VALUES;

-- Failures of the current URL of a product or brand. A row with another URL is ignored.
CREATE TABLE product_image_failures (
  product_id bigint PRIMARY KEY REFERENCES store_products (id) ON DELETE CASCADE,
  image_url  text NOT NULL,
  reason     text NOT NULL,
  tries      integer NOT NULL,
  failed_at  timestamptz NOT NULL DEFAULT now(),
  retry_at   timestamptz NOT NULL
);

CREATE TABLE brand_image_failures (
  brand_id  bigint PRIMARY KEY REFERENCES brands (id) ON DELETE CASCADE,
  image_url text NOT NULL,
  reason    text NOT NULL,
  tries     integer NOT NULL,
  failed_at timestamptz NOT NULL DEFAULT now(),
  retry_at  timestamptz NOT NULL
);
