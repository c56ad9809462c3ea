//! An invented state with shops, as four platforms list them: each with its own fields, spellings, errors and gaps.
//!
//! In: a seed. Out: stores, the register, and the shop of each store.

use std::collections::HashMap;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::super::{Input, RegisterEntry, StoreRecord};
use crate::store::StoreId;

const SHOPS: usize = 300;
const CHAINS: usize = 22;
const BRANCHES: usize = 4;
const MALLS: usize = 12;
const NEIGHBOURS: usize = 15;
/// Degrees of a mile, about.
const MILE: f64 = 0.0155;

const CITIES: [&str; 12] = [
    "Mesa",
    "Gilbert",
    "Fort Wells",
    "Santa Rosa",
    "Granite",
    "Saint Claire",
    "Lakeside",
    "Copper City",
    "Dunmore",
    "Ash Fork",
    "Palo Alto Springs",
    "Quartz",
];
const STREETS: [&str; 24] = [
    "Example",
    "Main",
    "Granite",
    "Elm",
    "Washington",
    "7th",
    "12th",
    "Broadway",
    "Indian School",
    "McDowell",
    "Lincoln",
    "Center",
    "Martin Luther King",
    "19th",
    "Cactus",
    "University",
    "St James",
    "Camelback",
    "Oak",
    "Juniper",
    "Railroad",
    "Mill",
    "Park",
    "Second",
];
const KINDS: [[&str; 4]; 6] = [
    ["Street", "St", "St.", "Str"],
    ["Avenue", "Ave", "Ave.", "Av"],
    ["Road", "Rd", "Rd.", "RD"],
    ["Boulevard", "Blvd", "Blvd.", "Boul"],
    ["Drive", "Dr", "Dr.", "DR"],
    ["Parkway", "Pkwy", "Pkwy.", "Parkwy"],
];
const DIRECTIONS: [[&str; 3]; 4] =
    [["North", "N", "N."], ["South", "S", "S."], ["East", "E", "E."], ["West", "W", "W."]];
const FIRST: [&str; 40] = [
    "Green",
    "Copper",
    "Tin",
    "Desert",
    "High",
    "Sunday",
    "Banjo",
    "Velvet",
    "Emerald",
    "Golden",
    "Blue",
    "Purple",
    "Sacred",
    "Urban",
    "Mountain",
    "River",
    "Canyon",
    "Cedar",
    "Lucky",
    "Northern",
    "Southern",
    "True",
    "Nature's",
    "Ponderosa",
    "Ember",
    "Harvest",
    "Bloom",
    "Prime",
    "Oasis",
    "Silver",
    "Cloud",
    "Iron",
    "Hidden",
    "Wild",
    "Royal",
    "Sun",
    "Moon",
    "Amber",
    "Cobalt",
    "Joe's",
];
const SECOND: [&str; 30] = [
    "Fern",
    "Leaf",
    "Lantern",
    "Valley",
    "Harvest",
    "Root",
    "Biscuit",
    "Garden",
    "Remedies",
    "Wellness",
    "Supply",
    "Peak",
    "Meadow",
    "Health",
    "Station",
    "House",
    "Path",
    "Coast",
    "Gate",
    "Farms",
    "Flower",
    "Buds",
    "Haven",
    "Bridge",
    "Tree",
    "Roots",
    "Mesa",
    "Stone",
    "Creek",
    "Collective",
];

#[derive(Clone)]
struct Street {
    direction: Option<usize>,
    name: &'static str,
    kind: usize,
}

#[derive(Clone)]
struct Spot {
    city: usize,
    zip: usize,
    house: u32,
    street: Street,
    unit: Option<String>,
    point: [f64; 2],
}

#[derive(Clone)]
struct Shop {
    name: String,
    /// Another name on one of the platforms.
    old_name: Option<String>,
    spot: Spot,
    /// Where one of the platforms still has it.
    old_spot: Option<Spot>,
    phone: String,
    website: String,
    licence: String,
    has_twins: bool,
    has_delivery: bool,
    is_medical: bool,
}

pub(in super::super) struct State {
    /// Without a register.
    pub input: Input,
    pub register: Vec<RegisterEntry>,
    pub shop_of: HashMap<StoreId, usize>,
}

pub(in super::super) fn state(seed: u64) -> State {
    let mut world = World { rng: StdRng::seed_from_u64(seed), shops: Vec::new() };
    world.open_chains();
    world.open_malls();
    world.open_neighbours();
    while world.shops.len() < SHOPS {
        let (name, spot) = (world.name(), world.spot());
        world.open(name, spot);
    }
    world.shops.truncate(SHOPS);
    world.list()
}

struct World {
    rng: StdRng,
    shops: Vec<Shop>,
}

impl World {
    fn open_chains(&mut self) {
        for _ in 0..CHAINS {
            let (name, phone, city) = (self.name(), self.phone(), self.rng.random_range(0..CITIES.len()));
            let website = website(&name);
            let (has_one_phone, is_in_one_city) = (self.chance(0.6), self.chance(0.5));
            for branch in 0..BRANCHES {
                let mut spot = self.spot();
                if is_in_one_city || branch < 2 {
                    spot = self.spot_in(city);
                }
                self.open(name.clone(), spot);
                if let Some(shop) = self.shops.last_mut() {
                    shop.website.clone_from(&website);
                    if has_one_phone {
                        shop.phone.clone_from(&phone);
                    }
                }
            }
        }
    }

    fn open_malls(&mut self) {
        for _ in 0..MALLS {
            let spot = self.spot();
            for unit in 1..=self.rng.random_range(2..=3) {
                let name = self.name();
                self.open(name, Spot { unit: Some((unit * 7).to_string()), ..spot.clone() });
            }
        }
    }

    /// Two shops across the street, some with names that begin alike.
    fn open_neighbours(&mut self) {
        for pair in 0..NEIGHBOURS {
            let (mut names, spot) = ([self.name(), self.name()], self.spot());
            if pair % 3 == 0 {
                let first = names[0].split(' ').next().unwrap().to_owned();
                let second = names[1].split(' ').next_back().unwrap().to_owned();
                names[1] = format!("{first} {second}");
            }
            if names[0] == names[1] {
                names[1].push_str(" Annex");
            }
            let apart = self.rng.random_range(0.02..0.08) * MILE;
            let other = Spot { house: spot.house + 5, point: [spot.point[0] + apart, spot.point[1]], ..spot.clone() };
            let [one, two] = names;
            self.open(one, spot);
            self.open(two, other);
        }
    }

    fn open(&mut self, name: String, spot: Spot) {
        let number = self.shops.len();
        let (moves, renames) = (self.chance(0.04), self.chance(0.05));
        let shop = Shop {
            old_name: renames.then(|| self.name()),
            old_spot: moves.then(|| self.spot_in(spot.city)),
            phone: self.phone(),
            website: website(&name),
            licence: format!("{:08}ESAA{}", 100 + number * 3, self.rng.random_range(10..99)),
            has_twins: self.chance(0.15),
            has_delivery: self.chance(0.08),
            is_medical: self.chance(0.5),
            name,
            spot,
        };
        self.shops.push(shop);
    }

    fn list(&mut self) -> State {
        let (mut stores, mut shop_of, mut register) = (Vec::new(), HashMap::new(), Vec::new());
        for (at, shop) in self.shops.clone().iter().enumerate() {
            for mut store in self.listings(shop) {
                store.id = stores.len() as StoreId + 1;
                shop_of.insert(store.id, at);
                stores.push(store);
            }
            if self.chance(0.95) {
                register.push(self.entry(shop));
            }
        }
        State { input: Input { stores, ..Input::default() }, register, shop_of }
    }

    fn entry(&mut self, shop: &Shop) -> RegisterEntry {
        let holder = if self.chance(0.5) { shop.name.clone() } else { format!("{} Holdings", self.name()) };
        RegisterEntry {
            licence: shop.licence.clone(),
            name: format!("{holder} LLC"),
            address: self.address(&shop.spot, "AZ"),
            city: Some(CITIES[shop.spot.city].to_owned()),
            state: Some("AZ".to_owned()),
            zip: Some(zip(&shop.spot)),
        }
    }

    /// The shop's stores on one to four platforms.
    fn listings(&mut self, shop: &Shop) -> Vec<StoreRecord> {
        let chances = [("dutchie", 0.55), ("weedmaps", 0.65), ("leafly", 0.6), ("jane", 0.4)];
        let mut platforms: Vec<&str> =
            chances.into_iter().filter(|(_, chance)| self.chance(*chance)).map(|(platform, _)| platform).collect();
        if platforms.is_empty() {
            platforms.push(chances[self.rng.random_range(0..chances.len())].0);
        }
        let (mut moved, mut renamed) = (shop.old_spot.clone(), shop.old_name.clone());
        let mut stores = Vec::new();
        for (at, platform) in platforms.iter().enumerate() {
            let is_last = at + 1 == platforms.len();
            let mut listed = shop.clone();
            // one platform has the old place or name
            if is_last && at > 0 {
                listed.spot = moved.take().unwrap_or(listed.spot);
                listed.name = renamed.take().unwrap_or(listed.name);
            }
            stores.extend(self.stores(&listed, platform));
        }
        if shop.old_spot.is_some() && self.chance(0.7) {
            let writes_licence = |store: &&mut StoreRecord| store.platform != "dutchie";
            stores.iter_mut().filter(writes_licence).for_each(|store| store.licences = vec![shop.licence.clone()]);
        }
        stores
    }

    fn stores(&mut self, shop: &Shop, platform: &str) -> Vec<StoreRecord> {
        let (rec, med) = (Some(true), Some(shop.is_medical));
        let twin_chance = match platform {
            "jane" => 1.0,
            "dutchie" => 0.5,
            "weedmaps" => 0.2,
            _ => 0.0,
        };
        let mut stores = if shop.has_twins && self.chance(twin_chance) {
            vec![
                self.store(shop, platform, [Some(true), Some(false)], " (REC)"),
                self.store(shop, platform, [Some(false), Some(true)], " (MED)"),
            ]
        } else {
            let flags = if platform == "leafly" { [None, None] } else { [rec, med] };
            vec![self.store(shop, platform, flags, "")]
        };
        if platform == "weedmaps" && shop.has_delivery {
            let mut delivery = self.store(shop, platform, [rec, med], " Delivery");
            delivery.is_delivery = Some(true);
            if self.chance(0.7) {
                delivery.address = None;
                delivery.latitude = delivery.latitude.map(|degrees| degrees + 2.0 * MILE);
            }
            stores.push(delivery);
        }
        stores
    }

    fn store(&mut self, shop: &Shop, platform: &str, flags: [Option<bool>; 2], suffix: &str) -> StoreRecord {
        let spot = &shop.spot;
        let state = if platform == "jane" || platform == "weedmaps" { "Arizona" } else { "AZ" };
        let writes_licence = self.chance(match platform {
            "weedmaps" => 0.85,
            "jane" | "leafly" => 0.1,
            _ => 0.0,
        });
        let point = self.point(spot, if platform == "leafly" { 0.0 } else { 0.05 });
        let address = match platform {
            "jane" if self.chance(0.12) => String::new(),
            "jane" if self.chance(0.1) => {
                format!("{}, {}, {state} {}", self.address(spot, state), CITIES[spot.city], zip(spot))
            }
            _ => self.address(spot, state),
        };
        let phone = if self.chance(0.03) { self.phone() } else { shop.phone.clone() };
        let website = match platform {
            "weedmaps" if self.chance(0.8) => Some(shop.website.clone()),
            "jane" if self.chance(0.4) => Some(format!("https://www.{}/menu", shop.website)),
            "dutchie" => Some("https://dutchie.com/embedded-menu/shop".to_owned()),
            _ => None,
        };
        StoreRecord {
            id: 0,
            platform: platform.to_owned(),
            name: self.written_name(&shop.name, CITIES[spot.city], suffix),
            address: Some(address),
            city: self.chance(0.97).then(|| CITIES[spot.city].to_owned()),
            state: Some(state.to_owned()),
            zip: self.chance(0.97).then(|| zip(spot)),
            latitude: point.map(|point| point[0]),
            longitude: point.map(|point| point[1]),
            phone: self.chance(0.9).then(|| self.written_phone(&phone)),
            website,
            licences: if writes_licence { vec![shop.licence.clone()] } else { vec![] },
            is_recreational: flags[0],
            is_medical: flags[1],
            is_delivery: None,
        }
    }

    fn written_name(&mut self, name: &str, city: &str, suffix: &str) -> String {
        let mut name = if self.chance(0.02) { self.with_error(name) } else { name.to_owned() };
        name = match self.rng.random_range(0..10) {
            0 => format!("{name} Dispensary"),
            1 => format!("{name} - {city}"),
            2 => format!("The {name}"),
            3 => format!("{name} Cannabis Co."),
            4 => name.to_uppercase(),
            5 => format!("{name} Dispensary {city}"),
            6 => name.replace('\'', ""),
            _ => name,
        };
        name + suffix
    }

    fn address(&mut self, spot: &Spot, state: &str) -> String {
        let mut house = spot.house.to_string();
        if self.chance(0.007) {
            house = house.chars().rev().collect();
        }
        let direction = spot.street.direction.filter(|_| self.chance(0.92));
        let direction = direction.map(|direction| *DIRECTIONS[direction].choose(&mut self.rng).unwrap());
        let name = if self.chance(0.03) { self.with_error(spot.street.name) } else { spot.street.name.to_owned() };
        let kind = self.chance(0.97).then(|| *KINDS[spot.street.kind].choose(&mut self.rng).unwrap());
        let parts = [Some(house.as_str()), direction, Some(&name), kind];
        let mut address = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        if let Some(unit) = spot.unit.as_ref().filter(|_| self.chance(0.85)) {
            let word = ["#", " Suite ", ", Suite ", " Ste ", ", Ste. ", " Unit ", ", #"].choose(&mut self.rng).unwrap();
            let blank = if word.starts_with('#') { " " } else { "" };
            address = format!("{address}{blank}{word}{unit}");
        }
        match self.rng.random_range(0..20) {
            0 => address.to_uppercase(),
            1 => format!("{address}, {}, {state}", CITIES[spot.city]),
            _ => address,
        }
    }

    fn point(&mut self, spot: &Spot, missing: f64) -> Option<[f64; 2]> {
        let error = match self.rng.random_range(0..100) {
            0 => return Some(centre(spot.city)),
            1..=3 => 0.5,
            _ => 0.02,
        };
        let point = spot.point.map(|degrees| degrees + self.rng.random_range(-error..error) * MILE);
        (!self.chance(missing)).then_some(point)
    }

    fn written_phone(&mut self, phone: &str) -> String {
        let (area, office, line) = (&phone[..3], &phone[3..6], &phone[6..]);
        match self.rng.random_range(0..4) {
            0 => phone.to_owned(),
            1 => format!("({area}) {office}-{line}"),
            2 => format!("+1 {area}.{office}.{line}"),
            _ => format!("{area}-{office}-{line}"),
        }
    }

    /// Two letters exchanged, or one left out.
    fn with_error(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        let at = self.rng.random_range(1..chars.len() - 1);
        if self.chance(0.5) {
            chars.swap(at, at + 1);
        } else {
            chars.remove(at);
        }
        chars.into_iter().collect()
    }

    fn name(&mut self) -> String {
        format!("{} {}", FIRST.choose(&mut self.rng).unwrap(), SECOND.choose(&mut self.rng).unwrap())
    }

    fn phone(&mut self) -> String {
        format!("480{:07}", self.rng.random_range(2_000_000..9_999_999))
    }

    fn spot(&mut self) -> Spot {
        let city = self.rng.random_range(0..CITIES.len());
        self.spot_in(city)
    }

    fn spot_in(&mut self, city: usize) -> Spot {
        let zip = self.rng.random_range(0..5);
        let street = Street {
            direction: self.chance(0.6).then(|| self.rng.random_range(0..DIRECTIONS.len())),
            name: STREETS.choose(&mut self.rng).unwrap(),
            kind: self.rng.random_range(0..KINDS.len()),
        };
        let unit = self
            .chance(0.3)
            .then(|| format!("{}{}", self.rng.random_range(1..300), ["", "", "A"].choose(&mut self.rng).unwrap()));
        let point = centre(city).map(|degrees| degrees + self.rng.random_range(-5.0..5.0) * MILE);
        Spot { city, zip, house: self.rng.random_range(10..9_999), street, unit, point }
    }

    fn chance(&mut self, chance: f64) -> bool {
        self.rng.random_bool(chance)
    }
}

fn centre(city: usize) -> [f64; 2] {
    [33.0 + 0.3 * (city / 4) as f64, -112.0 + 0.3 * (city % 4) as f64]
}

fn zip(spot: &Spot) -> String {
    format!("85{:03}", spot.city * 10 + spot.zip)
}

fn website(name: &str) -> String {
    format!("{}.example", name.to_lowercase().replace([' ', '\''], ""))
}
