-- Images: the brands with their logos, and what failed to be downloaded. Where an image is stored stands with its product or brand.

CREATE TABLE brands (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name             text NOT NULL,
  slug             text NOT NULL UNIQUE,
  -- The address in the feed; the fallback for as long as there is no stored logo.
  image_url        text,
  -- Relative to the storage root.
  local_image_path text,
  updated_at       timestamptz NOT NULL DEFAULT now()
);

-- How many images were ever stored, and their bytes as downloaded: one row, so that no one has to count products.
CREATE TABLE image_totals (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  stored      bigint NOT NULL DEFAULT 0,
  bytes       bigint NOT NULL DEFAULT 0
);
INSERT INTO image_totals DEFAULT VALUES;

-- Failures of the address that a product or brand has now; a row whose address is another one counts for nothing.
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
