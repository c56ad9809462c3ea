//! The vocabulary of the market: words of strains and flavours, and of makers.
//!
//! All names are put together from common words by chance; none is copied from a menu. No word here is also a form of
//! goods or a version (`kinds`), and a strain's two lists share no word.

use std::sync::LazyLock;

pub(super) static FIRST: LazyLock<Vec<&'static str>> = LazyLock::new(|| FIRST_WORDS.split_whitespace().collect());
pub(super) static SECOND: LazyLock<Vec<&'static str>> = LazyLock::new(|| SECOND_WORDS.split_whitespace().collect());
pub(super) static MAKER_FIRST: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| MAKER_FIRST_WORDS.split_whitespace().collect());
pub(super) static MAKER_SECOND: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| MAKER_SECOND_WORDS.split_whitespace().collect());
/// Words that are the whole name of a maker.
pub(super) static MAKER_ALONE: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| MAKER_ALONE_WORDS.split_whitespace().collect());

const FIRST_WORDS: &str = "
    Plum Cedar Mango Cobble Peach Gravel Lime Jalapeño Frost Cherry Grape Honey Tangelo Crème Pine Banjo Strawberry
    Raspberry Blueberry Blackberry Huckleberry Watermelon Pineapple Papaya Guava Lychee Apricot Nectarine Pomelo Kumquat
    Persimmon Rhubarb Elderberry Currant Cranberry Coconut Vanilla Cinnamon Nutmeg Cardamom Ginger Fennel Basil Sorrel
    Thistle Nettle Clover Bramble Walnut Pecan Hazel Almond Pistachio Chestnut Molasses Custard Waffle Biscuit Doughnut
    Nougat Marzipan Praline Toffee Licorice Wasabi Pickle Pepper Mustard Turmeric Paprika Cayenne Sesame Cobalt Indigo
    Scarlet Magenta Turquoise Lavender Lilac Violet Marigold Dahlia Zinnia Peony Magnolia Jasmine Hibiscus Neon Radio
    Velour Corduroy Denim Satin Flannel Tweed Marble Quartz Topaz Garnet Opal Onyx Pewter Bronze Brass Chrome Titan
    Lunar Solar Stellar Cosmic Galactic Orbit Nebula Thunder Blizzard Monsoon Typhoon Drizzle Foggy Misty Sunny Rainy
    Dusty Rusty Salty Bitter Tangy Zesty Smoky Toasted Frosted Glazed Candied Roasted Whipped Melted Frozen Giggle
    Wobble Bumble Açaí Piñata Grandma's Captain's Purple Crooked Sleepy Hungry Dizzy Fuzzy Nimble Jolly Clumsy Secret
    Midnight Velveteen Tropical Alpine Arctic Desert Suburban Backyard Rooftop Basement Eleventh Backward Sideways
    Invisible Tangerine Boysenberry Gooseberry Mulberry Starfruit Dragonfruit Passionfruit Clementine Mandarin Bergamot";

const SECOND_WORDS: &str = "
    Static Fizz Relay Ledger Turbine Cake Signal Dusk Pilot Abacus Meridian Circuit Rush Nocturne Cipher Kush Lantern
    Comet Anchor Thicket Canyon Sparrow Harvest Cascade Summit Beacon Hollow Kettle Drift Mesa Otter Parlor Compass
    Engine Piston Lever Gasket Sprocket Pulley Ratchet Bellows Anvil Hammer Chisel Trowel Bucket Barrel Basket Satchel
    Pocket Button Zipper Buckle Tassel Ribbon Quilt Pillow Blanket Hammock Rocket Shuttle Glider Zeppelin Trolley Wagon
    Tractor Scooter Bicycle Unicycle Tandem Galleon Frigate Schooner Dinghy Canoe Kayak Harpoon Trident Scepter Crown
    Throne Castle Turret Dungeon Drawbridge Portal Mirage Phantom Specter Goblin Gremlin Dragon Griffin Phoenix Unicorn
    Pegasus Kraken Yeti Walrus Narwhal Penguin Pelican Toucan Parrot Falcon Osprey Heron Badger Weasel Ferret Beaver
    Bison Mustang Bronco Stallion Donkey Llama Alpaca Gazelle Antelope Cheetah Panther Jaguar Lynx Bobcat Tornado
    Avalanche Volcano Geyser Glacier Lagoon Bayou Tundra Savanna Jungle Oasis Ripple Echo Whisper Murmur Chatter Jingle
    Melody Ballad Sonata Waltz Tango Polka Mambo Disco Jukebox Trombone Clarinet Bassoon Piccolo Fiddle Ukulele Mandolin
    Tambourine Carousel Trampoline Kaleidoscope Telescope Periscope Gyroscope Barometer Pendulum Metronome Typewriter
    Umbrella Parachute Lighthouse Windmill Waterfall Thunderclap Snowdrift Moonbeam Stardust Sundial Postcard Passport";

const MAKER_FIRST_WORDS: &str = "
    Amber Velvet Copper Willow Crimson Harbor Quiet Northern Golden Ember Prairie Silver Mossy Electric Coastal Sierra
    Tidal Wild Granite Juniper Humble Honest Lucky Steady Ancient Modern Grand Upper Lower Eastern Western Southern
    Hidden Twin Seven Kindred Noble Rugged Gentle Bright Restless Painted Broken Wandering Patient Crooked Forgotten
    Heritage Emerald Sapphire Lonesome Evergreen Redwood Highland Cascade";

const MAKER_SECOND_WORDS: &str = "
    Fern Ridge Grove Acre Bridge Hearth Timber Garden Valley Creek River Spring Island Shore Bluff Peak Cove Forge
    Foundry Cellar Pantry Kitchen Workshop Union Guild Society Standard Remedy Ritual Almanac Chapter Journal Atlas
    Lotus Cypress Sequoia Orchard Pasture Homestead Granary Observatory Botanist Apothecary Gardener Botanica Greenhouse
    Terrace Plateau Estuary Peninsula";

const MAKER_ALONE_WORDS: &str = "
    Thornwick Brindlewood Oakmere Veltara Kynovane Solvanta Mirabelo Zentrixa Halcyra Pelloria Quillonix Tamberly
    Ostravine Fenwright Lumoraya Corvexo Dravenport Ysoldane Bexworth Grizelda Hexaplum Jovanka Krillwater Umberfold";
