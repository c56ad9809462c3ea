"""Matches the listings of a CSV file with Splink, and prints how right it is, with its time and memory, as JSON.

The columns are prepared as a careful user would: names in lower case without the brand, and words, forms and amounts apart. Of several
thresholds the one with the best F1 counts, which a user without the truth could not know.
"""

import json
import logging
import resource
import sys
import time

import duckdb
import splink.comparison_level_library as cll
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

THRESHOLDS = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999]

FORMS = {
    "cartridge": "vape cartridge|510 cart|cartridges?|carts?",
    "disposable": "disposable vape|disposables?|all-in-one|aio",
    "pod": "pods?",
    "pre_roll": "pre-rolls?|prerolls?|pre rolls?|joints?|pr",
    "blunt": "blunts?",
    "small_buds": "small[- ]buds|smalls|popcorn",
    "ground": "ground",
    "flower": "whole[- ]flower|flower|buds",
    "gummies": "gummies|gummy",
    "chocolate": "chocolate bar|chocolates?",
    "mints": "mints",
    "troches": "troches",
    "sugar": "sugar",
    "badder": "badder|batter|budder",
    "shatter": "shatter",
    "rosin": "rosin",
    "diamonds": "diamonds?",
    "tincture": "tinctures?",
}
FORM = "CASE " + " ".join(
    rf"WHEN regexp_matches(own || ' ' || coalesce(subcategory, ''), '\b({words})\b') THEN '{form}'" for form, words in FORMS.items()
) + " END"

PREPARED = r"""
CREATE TABLE listings AS
WITH plain AS (
  SELECT *, strip_accents(lower(name)) AS low,
         nullif(regexp_replace(strip_accents(lower(trim(coalesce(brand, '')))),
                '( & co\.?| and co\.?|, inc\.?| farms| extracts| labs| cannabis co\.?)|[^a-z0-9 ]', '', 'g'), '') AS brand_key
    FROM read_csv('{file}', header = true, all_varchar = true)
),
apart AS (
  SELECT *, CASE WHEN brand_key IS NULL THEN low ELSE replace(low, brand_key, ' ') END AS own FROM plain
)
SELECT id::bigint AS unique_id, product::bigint AS product, decidable = 'true' AS decidable, brand_key AS brand, category,
       {form} AS form, nullif(strain, '') AS strain, nullif(options, '') AS options, nullif(chain_id, '') AS chain_id,
       nullif(array_to_string(list_sort(regexp_extract_all(own, '[0-9./]+ ?(?:mg|g|oz|ml|pk|pack|pieces)|x ?[0-9]+')), ' '), '') AS amounts,
       nullif(array_to_string(list_sort(regexp_extract_all(own, '\b(?:v2|reserve|live|infused|[0-9][0-9])\b')), ' '), '') AS version,
       trim(regexp_replace(regexp_replace(own, '[0-9./]+ ?(?:mg|g|oz|ml|pk|pack|pieces)', ' ', 'g'),
            '[^a-z ]+|\b(?:{words})\b|\b(?:indica|sativa|hybrid|h|i|s|x|mg|g|oz|ml|pk)\b', ' ', 'g')) AS name
  FROM apart
"""

SCORED = """
WITH pairs AS (SELECT sum(n * (n - 1) / 2) AS n FROM (SELECT count(*) AS n FROM {clusters} GROUP BY cluster_id)),
     rights AS (SELECT sum(n * (n - 1) / 2) AS n FROM (SELECT count(*) AS n FROM {clusters} GROUP BY cluster_id, product)),
     wanted AS (SELECT sum(n * (n - 1) / 2) AS n FROM (SELECT count(*) AS n FROM {clusters} WHERE decidable GROUP BY product)),
     found AS (SELECT sum(n * (n - 1) / 2) AS n FROM (SELECT count(*) AS n FROM {clusters} WHERE decidable GROUP BY cluster_id, product))
SELECT rights.n / pairs.n, found.n / wanted.n FROM pairs, rights, wanted, found
"""


def trained(listings):
    settings = SettingsCreator(
        link_type="dedupe_only",
        blocking_rules_to_generate_predictions=[
            block_on("brand", "substr(name, 1, 3)"),
            block_on("name", "category"),
            block_on("brand", "name"),
            block_on("chain_id"),
        ],
        comparisons=[
            cl.JaroWinklerAtThresholds("name", [0.95, 0.88]).configure(term_frequency_adjustments=True),
            cl.JaroWinklerAtThresholds("brand", [0.92]).configure(term_frequency_adjustments=True),
            cl.ExactMatch("category"),
            cl.ExactMatch("form"),
            cl.ExactMatch("options"),
            cl.ExactMatch("amounts"),
            cl.ExactMatch("version"),
            cl.ExactMatch("strain"),
            cl.ExactMatch("chain_id"),
        ],
        additional_columns_to_retain=["product", "decidable"],
    )
    linker = Linker(listings, settings)
    linker.training.estimate_probability_two_random_records_match([block_on("brand", "name", "options")], recall=0.5)
    linker.training.estimate_u_using_random_sampling(max_pairs=2e6)
    for rule in (block_on("brand", "name"), block_on("options", "name"), block_on("brand", "amounts", "category")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    return linker


def main():
    logging.getLogger("splink").setLevel(logging.ERROR)
    begun = time.monotonic()
    connection = duckdb.connect()
    connection.execute("SET threads = 2").fetchall()
    connection.execute(PREPARED.format(file=sys.argv[1], form=FORM, words="|".join(FORMS.values()))).fetchall()
    api = DuckDBAPI(connection)
    linker = trained(api.register("listings"))
    predictions = linker.inference.predict(threshold_match_probability=THRESHOLDS[0])
    best = None
    for threshold in THRESHOLDS:
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(predictions, threshold)
        ((precision, recall),) = connection.execute(SCORED.format(clusters=clusters.physical_name)).fetchall()
        f1 = 2 * precision * recall / (precision + recall)
        if best is None or f1 > best["f1"]:
            best = {"threshold": threshold, "precision": precision, "recall": recall, "f1": f1}
    used = resource.getrusage(resource.RUSAGE_SELF)
    best |= {"seconds": time.monotonic() - begun, "cpu": used.ru_utime + used.ru_stime, "rss": used.ru_maxrss * 1024}
    print(json.dumps(best))


main()
