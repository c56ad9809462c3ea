//! An MMDB file with the fields of GeoIP2 (City or Country): MaxMind's own, DB-IP's, IP2Location's.

use std::net::IpAddr;

use maxminddb::{Reader, geoip2};

use domain::store::place::Place;

/// Mark before the file's description of itself, at its end.
const MARK: &[u8] = b"\xab\xcd\xefMaxMind.com";
const MAX_DESCRIPTION: usize = 128 * 1024;

pub struct MmdbFile {
    reader: Reader<Vec<u8>>,
    /// Whether it knows addresses of IPv6.
    has_v6: bool,
}

pub fn is_one(bytes: &[u8]) -> bool {
    let end = &bytes[bytes.len().saturating_sub(MAX_DESCRIPTION)..];
    end.windows(MARK.len()).any(|window| window == MARK)
}

impl MmdbFile {
    pub fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let reader = Reader::from_source(bytes).map_err(|error| error.to_string())?;
        let has_v6 = reader.metadata().ip_version == 6;
        Ok(MmdbFile { reader, has_v6 })
    }

    pub fn look_up(&self, address: IpAddr) -> Result<Option<Place>, String> {
        if address.is_ipv6() && !self.has_v6 {
            return Ok(None);
        }
        let found = self.reader.lookup(address).and_then(|found| found.decode::<geoip2::City>());
        Ok(found.map_err(|error| error.to_string())?.map(place))
    }
}

fn place(city: geoip2::City) -> Place {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let region = city.subdivisions.first();
    Place {
        country: owned(city.country.iso_code),
        country_name: owned(city.country.names.english),
        region: region.and_then(|region| owned(region.names.english.or(region.iso_code))),
        city: owned(city.city.names.english),
        timezone: owned(city.location.time_zone),
    }
}
