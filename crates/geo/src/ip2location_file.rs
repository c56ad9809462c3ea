//! An IP2Location BIN file (DB1 to DB26).
//!
//! The crate maps the file into memory and trusts its header. Therefore it maps a copy without a name, which
//! no program can cut, and which was checked: a damaged one could end the process, or a lookup never end.

use std::borrow::Cow;
use std::io::Write;
use std::net::IpAddr;

use ip2location::error::Error;
use ip2location::{DB, LocationDB, LocationRecord};
use tempfile::NamedTempFile;

use domain::store::place::Place;

/// DB1 to DB26.
const TYPES: std::ops::RangeInclusive<u8> = 1..=26;
/// Entries of an index: two row numbers for each of the first 16 bits of an address.
const INDEX_ENTRIES: u64 = 65_536;
/// A file's text for an unknown value.
const UNKNOWN: &str = "-";

pub struct Ip2LocationFile {
    db: LocationDB,
    has_v6: bool,
}

impl Ip2LocationFile {
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let has_v6 = check(bytes)?;
        let mut copy = NamedTempFile::new().map_err(|error| format!("it cannot be copied: {error}"))?;
        copy.write_all(bytes).map_err(|error| format!("it cannot be copied: {error}"))?;
        match DB::from_file(copy.path()) {
            Ok(DB::LocationDb(db)) => Ok(Ip2LocationFile { db, has_v6 }),
            Ok(DB::ProxyDb(_)) => Err("it lists proxies, not places".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn look_up(&self, address: IpAddr) -> Result<Option<Place>, String> {
        if address.is_ipv6() && !self.has_v6 {
            return Ok(None);
        }
        match self.db.ip_lookup(address) {
            Ok(record) => Ok(Some(place(record))),
            Err(Error::RecordNotFound) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn place(record: LocationRecord) -> Place {
    let (country, country_name) = match record.country {
        Some(country) => (known(country.short_name), known(country.long_name)),
        None => (None, None),
    };
    Place {
        country,
        country_name,
        region: record.region.and_then(known),
        city: record.city.and_then(known),
        timezone: record.time_zone.and_then(known),
    }
}

fn known(text: Cow<str>) -> Option<String> {
    (text != UNKNOWN && !text.is_empty()).then(|| text.into_owned())
}

/// The rows of one kind of address. Offsets begin with 1, as in the file.
struct Table {
    rows: u64,
    first_row: u64,
    /// 0: none.
    index: u64,
    /// Bytes of a row, and of the address that it begins with.
    row_bytes: u64,
    address_bytes: u64,
}

/// Checks the crate's assumptions. Returns whether the file knows addresses of IPv6.
fn check(bytes: &[u8]) -> Result<bool, String> {
    let header = |at| number(bytes, at).ok_or_else(|| "it is neither an IP2Location BIN nor an MMDB file".to_owned());
    let [kind, columns, ..] = *bytes else { return Err("it is empty".to_owned()) };
    let column_bytes = u64::from(columns) * 4;
    let table = |rows, first_row, index, address_bytes| {
        let (rows, first_row, index) = (header(rows)?, header(first_row)?, header(index)?);
        let row_bytes = column_bytes + address_bytes - 4;
        Ok::<_, String>(Table { rows, first_row, index, row_bytes, address_bytes })
    };
    let (v4, v6) = (table(6, 10, 22, 4)?, table(14, 18, 26, 16)?);
    if !TYPES.contains(&kind) || columns < 2 || v4.rows == 0 {
        return Err("it is neither an IP2Location BIN nor an MMDB file".to_owned());
    }
    let has_v6 = v6.rows > 0;
    match v4.is_sound(bytes) && (!has_v6 || v6.is_sound(bytes)) {
        true => Ok(has_v6),
        false => Err("it is damaged or truncated".to_owned()),
    }
}

impl Table {
    fn is_sound(&self, bytes: &[u8]) -> bool {
        let end = self.first_row.saturating_sub(1) + self.rows * self.row_bytes;
        if self.first_row == 0 || end > bytes.len() as u64 {
            return false;
        }
        // a search that gets before the first row never ends
        let begins_with_zero =
            (0..self.address_bytes / 4).all(|word| number(bytes, self.first_row + word * 4) == Some(0));
        begins_with_zero && self.has_countries(bytes) && (self.index == 0 || self.has_index(bytes))
    }

    fn has_countries(&self, bytes: &[u8]) -> bool {
        let country = |row| number(bytes, self.first_row + row * self.row_bytes + self.address_bytes);
        (0..self.rows).all(|row| country(row).is_some_and(|at| at < bytes.len() as u64))
    }

    fn has_index(&self, bytes: &[u8]) -> bool {
        let last_row = |entry| number(bytes, self.index + entry * 8 + 4);
        (0..INDEX_ENTRIES).all(|entry| last_row(entry).is_some_and(|row| row <= self.rows))
    }
}

/// Four bytes, at an offset that begins with 1.
fn number(bytes: &[u8], at: u64) -> Option<u64> {
    let rest = bytes.get(usize::try_from(at.checked_sub(1)?).ok()?..)?;
    Some(u32::from_le_bytes(*rest.first_chunk()?).into())
}
