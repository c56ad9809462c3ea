-- Prices of options by gram, millilitre and milligram of THC, in millicents (thousandths of a cent), and why there are none.

ALTER TABLE store_product_variants
  ADD COLUMN rec_per_g bigint,
  ADD COLUMN med_per_g bigint,
  ADD COLUMN rec_per_ml bigint,
  ADD COLUMN med_per_ml bigint,
  ADD COLUMN rec_per_mg_thc bigint,
  ADD COLUMN med_per_mg_thc bigint,
  ADD COLUMN thc_mg double precision,      -- THC in the package
  ADD COLUMN unit_basis text,              -- how the amount is known
  ADD COLUMN no_unit_price text,           -- why there is no price by gram or millilitre
  ADD COLUMN no_thc_price text;            -- why there is none by milligram of THC

ALTER TABLE store_product_variant_history
  ADD COLUMN rec_per_g bigint,
  ADD COLUMN med_per_g bigint,
  ADD COLUMN rec_per_ml bigint,
  ADD COLUMN med_per_ml bigint,
  ADD COLUMN rec_per_mg_thc bigint,
  ADD COLUMN med_per_mg_thc bigint,
  ADD COLUMN unit_basis text;

-- The next crawl of each store writes the unit prices of all its options.
UPDATE dispensaries SET hashed_payload_id = NULL WHERE hashed_payload_id IS NOT NULL;
