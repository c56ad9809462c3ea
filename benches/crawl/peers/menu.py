"""What the peers in Python share: the job, a menu's request, and the rows of its answer.

A job comes as a line of JSON on stdin. The peer answers "ready"; the next line is "first" or "again"; "done" follows the last commit.
"""

import functools
import json
import re
import sys
from urllib.parse import quote

PRODUCT_COLUMNS = (
    "store id name brand category subcategory strain_type image_url price_rec price_med special_rec special_med thc_min thc_max"
    " cbd_min cbd_max quantity quantity_censored stock_status option_labels option_size_mg option_size_ml option_rec option_med"
    " option_special_rec option_special_med option_quantity"
).split()
SNAPSHOT_COLUMNS = "store id crawled_at price_rec price_med special_rec special_med thc_min thc_max quantity stock_status".split()
HEADERS = {"Accept-Encoding": "gzip", "Content-Type": "application/json", "apollo-require-preflight": "true"}
POS_CAP = 25
MERGE = (
    f"INSERT INTO products AS p SELECT * FROM incoming ON CONFLICT (store, id) DO UPDATE SET "
    + ", ".join(f"{column} = excluded.{column}" for column in PRODUCT_COLUMNS[2:])
    + " WHERE (p.*) IS DISTINCT FROM (excluded.*)"
)


def read_job():
    return json.loads(sys.stdin.readline())


def read_order():
    return json.loads(sys.stdin.readline())


def tell(answer):
    print(json.dumps(answer), flush=True)


def finish():
    """After the last commit. What the process has used is read before its end, which the end of stdin asks for."""
    tell("done")
    sys.stdin.read()


def url(job, store, page):
    variables = {
        "productsFilter": {"dispensaryId": job["stores"][store], "pricingType": "rec", "Status": "All"},
        "page": page,
        "perPage": job["per_page"],
    }
    extensions = {"persistedQuery": {"version": 1, "sha256Hash": job["query_hash"]}}
    parts = {"operationName": "FilteredProducts", "variables": json.dumps(variables), "extensions": json.dumps(extensions)}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parts.items())
    return f"{job['base_url']}/api-3/graphql?{query}"


def proxy(job, store):
    host, port = job["proxies"][store % len(job["proxies"])]
    return f"http://{host}:{port}"


def row(store, product):
    """A product as a tuple of PRODUCT_COLUMNS."""
    labels = product["Options"]
    rec = [cents(price) for price in product["recPrices"] or product["Prices"]]
    med = [cents(price) for price in product["medicalPrices"]] or [None] * len(labels)
    special_rec = specials(rec, product["recSpecialPrices"])
    special_med = specials(med, product["medicalSpecialPrices"])
    pos = product["POSMetaData"] or {}
    children = pos.get("children")
    quantities = stock(labels, children or product["manualInventory"] or ())
    known = [quantity for quantity in quantities if quantity is not None]
    sizes = [size(label) for label in labels]
    weights = ((product["measurements"] or {}).get("netWeight") or {}).get("values") or ()
    if len(weights) == len(labels):
        sizes = [(weight, None) if stated == (None, None) else stated for stated, weight in zip(sizes, weights)]
    price_rec, lowest_special_rec = lowest(rec, special_rec)
    price_med, lowest_special_med = lowest(med, special_med)
    brand = product["brand"] or {}
    strain_type = product["strainType"]
    return (
        store,
        product["_id"],
        product["Name"].strip(),
        text(brand.get("name")) or text(product["brandName"]) or text(pos.get("canonicalBrandName")),
        product["type"],
        product["subcategory"] or None,
        None if strain_type == "N/A" else strain_type,
        product["Image"] or next((image["url"] for image in product["images"] if image["active"]), None),
        price_rec,
        price_med,
        lowest_special_rec,
        lowest_special_med,
        *potency(product["THCContent"]),
        *potency(product["CBDContent"]),
        sum(known) if known else None,
        bool(children) and any(quantity >= POS_CAP for quantity in known),
        stock_status(product["Status"], quantities, known),
        labels,
        [mg for mg, _ in sizes],
        [ml for _, ml in sizes],
        rec,
        med,
        special_rec,
        special_med,
        quantities,
    )


def snapshot(row, crawled_at):
    """A product's row as a tuple of SNAPSHOT_COLUMNS."""
    return (row[0], row[1], crawled_at, *row[8:14], row[16], row[18])


def text(value):
    return value and value.strip() or None


def cents(dollars):
    # halves up: prices have at most three decimals
    return (round(dollars * 1000) + 5) // 10


def specials(prices, listed):
    if not listed:
        return [None] * len(prices)
    found = (cents(special) for special in listed)
    return [special if price is not None and 0 < special < price else None for price, special in zip(prices, found)]


def lowest(prices, specials):
    best = best_price = best_special = None
    for price, special in zip(prices, specials):
        paid = price if special is None else special
        if paid is not None and (best is None or paid < best):
            best, best_price, best_special = paid, price, special
    return best_price, best_special


def stock(labels, rows):
    found = [None] * len(labels)
    for at, row in enumerate(rows):
        place = next((n for n, label in enumerate(labels) if label == row["option"] and found[n] is None), at)
        available = row.get("quantityAvailable")
        if available is None:
            available = row.get("quantity")
        found[place] = row.get("inventory") if available is None else available
    return found


def stock_status(status, quantities, known):
    if status != "Active" or all(quantity == 0 for quantity in quantities):
        return "oos"
    return "in_stock" if any(known) else "unknown"


def potency(content):
    if content is None:
        return None, None
    if isinstance(content, dict):
        values = content["range"] or ()
        return (min(values), max(values)) if values else (None, None)
    if isinstance(content, str):
        content = float(content.rstrip("%"))
    return content, content


@functools.cache
def size(label):
    """Milligrams, or millilitres, that a label states."""
    match = re.fullmatch(r"([\d.]+)(?:/(\d+))?(mg|gc?|oz|ml)", label.lower())
    if not match:
        return None, None
    amount = float(match[1]) / float(match[2] or 1)
    if match[3] == "ml":
        return None, amount
    return round(amount * {"mg": 1, "g": 1000, "gc": 1000, "oz": 28_000}[match[3]]), None
