-- Writes the rows of one store that are new or differ.
INSERT INTO products AS p
SELECT * FROM incoming
    ON CONFLICT (store, id) DO UPDATE
   SET name = excluded.name, brand = excluded.brand, category = excluded.category, subcategory = excluded.subcategory,
       strain_type = excluded.strain_type, image_url = excluded.image_url, price_rec = excluded.price_rec,
       price_med = excluded.price_med, special_rec = excluded.special_rec, special_med = excluded.special_med,
       thc_min = excluded.thc_min, thc_max = excluded.thc_max, cbd_min = excluded.cbd_min, cbd_max = excluded.cbd_max,
       quantity = excluded.quantity, quantity_censored = excluded.quantity_censored, stock_status = excluded.stock_status,
       option_labels = excluded.option_labels, option_size_mg = excluded.option_size_mg, option_size_ml = excluded.option_size_ml,
       option_rec = excluded.option_rec, option_med = excluded.option_med, option_special_rec = excluded.option_special_rec,
       option_special_med = excluded.option_special_med, option_quantity = excluded.option_quantity
 WHERE (p.*) IS DISTINCT FROM (excluded.*)
