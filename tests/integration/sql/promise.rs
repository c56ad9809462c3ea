//! The columns of `drover_v1` stay: analysts' statements outlive releases.

use super::texts;

/// `view.column type`, in the order of the views. A line that is here stays as it is; a column that is added is a line more.
const COLUMNS: &str = include_str!("columns.txt");

#[tokio::test]
async fn no_column_is_lost_or_changes_its_type() {
    let database = testkit::database().await;
    let sql = "SELECT format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod))
                 FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
                WHERE c.relnamespace = 'drover_v1'::regnamespace
                ORDER BY c.relname, a.attnum";
    let found = texts(&database.raw, sql).await;
    let known: Vec<&str> = COLUMNS.lines().collect();
    assert_eq!(found, known, "the lines of tests/integration/sql/columns.txt:\n{}", found.join("\n"));
}

#[tokio::test]
async fn each_view_and_each_column_is_described() {
    let database = testkit::database().await;
    let sql = "SELECT concat_ws('.', c.relname, a.attname)
                 FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum >= 0
                WHERE c.relnamespace = 'drover_v1'::regnamespace AND col_description(c.oid, a.attnum) IS NULL
                UNION ALL
               SELECT c.relname FROM pg_class c
                WHERE c.relnamespace = 'drover_v1'::regnamespace AND obj_description(c.oid, 'pg_class') IS NULL";
    assert_eq!(texts(&database.raw, sql).await, Vec::<String>::new());
}

/// The result of the function, which grows like a view.
const MENU_AS_OF: &str = "\
TABLE(store_id bigint, store text, city text, state text, crawl_id bigint, crawled_at timestamp with time zone, product_id bigint, \
product text, brand text, category text, subcategory text, canonical_category text, option_label text, nth smallint, size_mg bigint, \
size_ml double precision, price integer, price_rec integer, price_med integer, special_price_rec integer, special_price_med integer, \
quantity integer, quantity_censored boolean, is_in_stock boolean, rec_per_g bigint, med_per_g bigint, rec_per_ml bigint, \
med_per_ml bigint, rec_per_mg_thc bigint, med_per_mg_thc bigint, unit_basis text, stock_status text, thc_min double precision, \
thc_max double precision, thc_unit text, cbd_min double precision, cbd_max double precision, cbd_unit text)";

#[tokio::test]
async fn the_menu_at_a_time_keeps_its_columns_and_is_described() {
    let database = testkit::database().await;
    let sql = "SELECT concat_ws(': ', oid::regprocedure, pg_get_function_result(oid)) FROM pg_proc
                WHERE pronamespace = 'drover_v1'::regnamespace AND obj_description(oid, 'pg_proc') IS NOT NULL";
    let expected = format!("drover_v1.menu_as_of(bigint,timestamp with time zone): {MENU_AS_OF}");
    assert_eq!(texts(&database.raw, sql).await, [expected]);
}

#[tokio::test]
async fn money_is_integers_and_times_have_a_zone() {
    let database = testkit::database().await;
    let sql = "SELECT format('%s.%s', table_name, column_name) FROM information_schema.columns
                WHERE table_schema = 'drover_v1'
                  AND (column_name LIKE '%\\_at' AND data_type <> 'timestamp with time zone'
                       OR (column_name LIKE '%price%' OR column_name IN ('cents', 'old_rec', 'new_rec')) AND column_name <> 'no_unit_price'
                          AND column_name <> 'no_thc_price' AND data_type <> 'integer')";
    assert_eq!(texts(&database.raw, sql).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_changed_file_of_views_keeps_the_rights_of_readers() {
    let database = testkit::database().await;
    let reader = super::reader_of(&database).await;
    let made_by_an_older_program = "
        DROP VIEW drover_v1.stores;
        CREATE VIEW drover_v1.stores AS SELECT 'one' AS store_id;
        UPDATE schema_objects SET checksum = 'older' WHERE name = '06_drover_v1'";
    database.raw.batch_execute(made_by_an_older_program).await.unwrap();
    db::schema::migrate::up(&database.db).await.unwrap();
    assert_eq!(super::refused(&reader, "SELECT store FROM drover_v1.stores").await, None);
}
