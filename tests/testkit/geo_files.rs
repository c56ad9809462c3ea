//! Small geo databases, written as their formats have it: IP2Location BIN (DB11) and MMDB (GeoIP2 City).

use std::net::Ipv4Addr;

/// A file's place of the addresses from this one on, up to the next.
pub struct Located {
    pub from: Ipv4Addr,
    /// Code and name, region, city, timezone; empty where it knows nothing.
    pub place: [&'static str; 5],
}

/// 198.51.100.0/24 is in Phoenix, 203.0.113.0/24 in Berlin.
pub fn located() -> Vec<Located> {
    let nowhere = [""; 5];
    let phoenix = ["US", "United States of America", "Arizona", "Phoenix", "America/Phoenix"];
    let berlin = ["DE", "Germany", "Land Berlin", "Berlin", "Europe/Berlin"];
    [
        ([0, 0, 0, 0], nowhere),
        ([198, 51, 100, 0], phoenix),
        ([198, 51, 101, 0], nowhere),
        ([203, 0, 113, 0], berlin),
        ([203, 0, 114, 0], nowhere),
    ]
    .map(|(from, place)| Located { from: from.into(), place })
    .into()
}

const KIND: u8 = 11;
const COLUMNS: u8 = 8;
const HEADER: usize = 64;

/// A BIN file. Its only IPv6 knowledge: 2001:db8::/32 is at the place of the last row but one of `located`.
pub fn ip2location(located: &[Located]) -> Vec<u8> {
    let (row4, row6) = (usize::from(COLUMNS) * 4, usize::from(COLUMNS) * 4 + 12);
    let (first4, count6) = (HEADER, 3);
    let first6 = first4 + (located.len() + 1) * row4;
    let mut strings = Strings { begin: first6 + (count6 + 1) * row6, bytes: Vec::new() };
    let mut rows = Vec::new();
    for Located { from, place } in located {
        rows.extend(u32::from(*from).to_le_bytes());
        rows.extend(strings.columns(place));
    }
    rows.extend(u32::MAX.to_le_bytes());
    rows.extend(strings.columns(&[""; 5]));
    let known = &located[located.len() - 2].place;
    for (from, place) in
        [(0, &[""; 5]), (0x2001_0db8_u128 << 96, known), (0x2001_0db9_u128 << 96, &[""; 5]), (u128::MAX, &[""; 5])]
    {
        rows.extend(from.to_le_bytes());
        rows.extend(strings.columns(place));
    }
    let mut header = vec![KIND, COLUMNS, 26, 11, 23];
    for number in [located.len(), first4 + 1, count6, first6 + 1, 0, 0] {
        header.extend((number as u32).to_le_bytes());
    }
    header.push(1);
    header.resize(HEADER, 0);
    [header, rows, strings.bytes].concat()
}

struct Strings {
    begin: usize,
    bytes: Vec<u8>,
}

impl Strings {
    /// The columns of a row behind its address: country, region, city, latitude, longitude, zip code,
    /// timezone.
    fn columns(&mut self, [code, name, region, city, timezone]: &[&str; 5]) -> Vec<u8> {
        // the name is three bytes behind the code
        let country = self.add(code);
        self.bytes.resize(country as usize - self.begin + 3, 0);
        self.add(name);
        let (region, city, zip, timezone) = (self.add(region), self.add(city), self.add(""), self.add(timezone));
        let degrees = 0_f32.to_bits();
        [country, region, city, degrees, degrees, zip, timezone]
            .iter()
            .flat_map(|column| column.to_le_bytes())
            .collect()
    }

    fn add(&mut self, text: &str) -> u32 {
        let at = self.begin + self.bytes.len();
        let text = if text.is_empty() { "-" } else { text };
        self.bytes.push(text.len() as u8);
        self.bytes.extend(text.as_bytes());
        at as u32
    }
}

/// Bytes between the tree and the data.
const SEPARATOR: usize = 16;
const BITS: u32 = 128;

/// An MMDB file of IPv6, which knows IPv4 below `::/96`, as all of them do.
pub fn mmdb(located: &[Located]) -> Vec<u8> {
    let mut tree = Tree::default();
    let mut data = Vec::new();
    for (n, Located { from, place }) in located.iter().enumerate().filter(|(_, located)| !located.place[0].is_empty()) {
        let end = located.get(n + 1).map_or(u32::MAX, |next| u32::from(next.from));
        let addresses = end - u32::from(*from);
        assert!(addresses.is_power_of_two(), "a network each");
        tree.insert(u128::from(u32::from(*from)), BITS - addresses.trailing_zeros(), data.len());
        data.extend(city(place));
    }
    let mut file = tree.bytes();
    file.extend([0; SEPARATOR]);
    file.extend(data);
    file.extend(b"\xab\xcd\xefMaxMind.com");
    file.extend(map(&[
        ("binary_format_major_version", unsigned(5, 2)),
        ("binary_format_minor_version", unsigned(5, 0)),
        ("build_epoch", [vec![8, 2], 1_700_000_000_u64.to_be_bytes().to_vec()].concat()),
        ("database_type", string("Test-City")),
        ("description", map(&[("en", string("a test's"))])),
        ("ip_version", unsigned(5, 6)),
        ("languages", array(&[string("en")])),
        ("node_count", unsigned(6, tree.nodes.len() as u32)),
        ("record_size", unsigned(5, 24)),
    ]));
    file
}

#[derive(Clone, Copy)]
enum Record {
    Nothing,
    Node(usize),
    Data(usize),
}

#[derive(Default)]
struct Tree {
    nodes: Vec<[Record; 2]>,
}

impl Tree {
    fn insert(&mut self, address: u128, prefix: u32, data: usize) {
        let mut node = self.node_or_root();
        for depth in 0..prefix {
            let bit = (address >> (BITS - 1 - depth) & 1) as usize;
            if depth + 1 == prefix {
                self.nodes[node][bit] = Record::Data(data);
                return;
            }
            node = match self.nodes[node][bit] {
                Record::Node(next) => next,
                _ => {
                    self.nodes.push([Record::Nothing; 2]);
                    let next = self.nodes.len() - 1;
                    self.nodes[node][bit] = Record::Node(next);
                    next
                }
            };
        }
    }

    fn node_or_root(&mut self) -> usize {
        if self.nodes.is_empty() {
            self.nodes.push([Record::Nothing; 2]);
        }
        0
    }

    fn bytes(&self) -> Vec<u8> {
        let count = self.nodes.len();
        let number = |record: &Record| match record {
            Record::Nothing => count,
            Record::Node(node) => *node,
            Record::Data(at) => count + SEPARATOR + at,
        };
        self.nodes.iter().flatten().flat_map(|record| (number(record) as u32).to_be_bytes()[1..].to_vec()).collect()
    }
}

fn city([code, name, region, city, timezone]: &[&str; 5]) -> Vec<u8> {
    let names = |name: &str| ("names", map(&[("en", string(name))]));
    map(&[
        ("city", map(&[names(city)])),
        ("country", map(&[("iso_code", string(code)), names(name)])),
        ("location", map(&[("time_zone", string(timezone))])),
        ("subdivisions", array(&[map(&[names(region)])])),
    ])
}

/// A map of fewer than 29 fields.
fn map(fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let fields_bytes = fields.iter().flat_map(|(key, value)| [string(key), value.clone()].concat());
    std::iter::once(7 << 5 | fields.len() as u8).chain(fields_bytes).collect()
}

fn array(values: &[Vec<u8>]) -> Vec<u8> {
    [vec![values.len() as u8, 4], values.concat()].concat()
}

/// A string of fewer than 29 bytes.
fn string(text: &str) -> Vec<u8> {
    [&[2 << 5 | text.len() as u8], text.as_bytes()].concat()
}

/// A number of type 5 (16 bits) or 6 (32 bits).
fn unsigned(kind: u8, number: u32) -> Vec<u8> {
    let width = if kind == 5 { 2 } else { 4 };
    [vec![kind << 5 | width], number.to_be_bytes()[4 - usize::from(width)..].to_vec()].concat()
}
