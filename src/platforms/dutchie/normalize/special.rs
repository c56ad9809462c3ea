//! `specialData`: kept as the platform wrote it, less what names a member of the store's staff.

use serde_json::Value;

use super::reader::Reader;
use super::wire::Raw;

const STAFF_ID: &str = "createdBy";
/// Real ones have a few kilobytes; a parsed value takes many times its text.
const MAX_BYTES: usize = 64 << 10;

/// The object with the platform's own key names; None when both lists are empty. Prices are never computed from them.
pub fn specials(raw: Raw<'_>, read: &mut Reader<'_>) -> Option<Value> {
    let size = raw?.get().len();
    if size > MAX_BYTES {
        read.warn("too_large", &format!("specialData has {size} bytes"));
        return None;
    }
    let mut specials: Value = read.object(raw, "specialData")?;
    let lists = ["bogoSpecials", "saleSpecials"].map(|key| specials.get(key).and_then(Value::as_array));
    if lists.into_iter().flatten().all(Vec::is_empty) {
        return None;
    }
    clean(&mut specials);
    Some(specials)
}

fn clean(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| key != STAFF_ID && !key.contains('\0'));
            fields.values_mut().for_each(clean);
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        // jsonb has no text with a NUL in it
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', ""),
        _ => {}
    }
}
