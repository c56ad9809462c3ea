-- products/images/totals.sql: number of images ever stored
SELECT stored, bytes FROM image_totals;
