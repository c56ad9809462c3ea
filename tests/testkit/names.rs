//! `NAMES`: names of products as menus have them, invented.

/// Makes `made_name(n)` and its helpers.
pub const NAMES: &str = r"
-- made_name(n): brand and name of the n-th of a million invented products. A hundred brands and strains are common and thousands are rare, as
-- on real menus; two words of five belong to one brand or strain alone.
CREATE FUNCTION made_share(n bigint, salt int) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT (hashint8extended(n, salt) & 1048575) / 1048576.0::double precision
$f$;

CREATE FUNCTION made_choice(choices text, share double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT split_part(choices, ',', 1 + floor(share * cardinality(string_to_array(choices, ',')))::int)
$f$;

-- A word that nobody else has.
CREATE FUNCTION made_word(n bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT initcap(made_choice('b,br,c,ch,cl,d,dr,f,fl,g,gl,gr,h,j,k,l,m,n,p,pl,pr,r,s,sh,sl,sp,st,t,th,tr,v,w,z', made_share(n, 21))
              || made_choice('a,e,i,o,u,ea,oo,ai', made_share(n, 22)) || made_choice('l,m,n,r,s,t,v,d,nd,st,rk,ll,mb,nt,ck', made_share(n, 23))
              || made_choice('a,e,i,o,u,ia,ea', made_share(n, 24))
              || made_choice('n,r,s,ra,na,ro,wood,ton,leaf,well,field,land,berry,ville,stone,x', made_share(n, 25)))
$f$;

CREATE TABLE made_brands AS
SELECT n, made_word(n) || CASE WHEN made_share(n, 1) < 0.5 THEN ' ' || made_choice('Farms,Cannabis,Labs,Extracts,Gardens,Growers,Collective,Botanicals,Wellness,Organics,Naturals,Brothers,Provisions,Reserve,Genetics,Cultivation,Confections,Concentrates,Supply,Craft,House,Remedies,Medicinals', made_share(n, 2)) ELSE '' END AS brand
  FROM generate_series(0, 2499) n;

CREATE TABLE made_strains AS
SELECT n, CASE WHEN made_share(n, 3) < 0.25 THEN made_word(10000 + n) ELSE made_choice('Blue,Sour,Purple,Northern,Pineapple,White,Green,Super,Lemon,Strawberry,Wedding,Sunset,Ice,Banana,Cherry,Grape,Mango,Tangelo,Watermelon,Apple,Peach,Papaya,Orange,Black,Golden,Silver,Tropical,Hawaiian,Alaskan,Master,Banjo,Platinum,Animal,Permanent,Cereal,Motor,Pink,Ghost,Royal,Double,Triple,Midnight,Velvet,Electric,Cosmic,Lunar,Solar,Frosted,Candy,Honey,Vanilla,Chocolate,Mint,Coffee,Cookies,Amnesia,Critical,Georgia,Kentucky,Colorado,Oregon,Jamaican,Moroccan,Nepalese,Laughing,Dancing,Flying,Sleeping,Dirty,Holy,Rainbow,Thunder,Lightning,Jungle,Desert,Mountain,River,Ocean,Island,Alien,Starfire,Plum,Guava,Dragon,Lychee,Kiwi,Raspberry,Blackberry,Huckleberry,Tangerine,Clementine,Grapefruit,Citrus,Rose,Lavender,Jasmine,Hibiscus,Cinnamon,Ginger,Peppermint,Butter,Caramel,Marshmallow,Birthday,Carrot,Cotton,Sugar,Maple,Toffee', made_share(n, 4)) END
    || ' ' ||
       CASE WHEN made_share(n, 3) > 0.85 THEN made_word(10000 + n) ELSE made_choice('Dream,Kush,Haze,Lights,Express,Widow,Crack,Skunk,Cough,Cake,Glue,Scout,Sherbet,Cream,Punch,Pie,Tart,Stomper,Fritter,Cobbler,Rings,Diesel,Poison,Gold,Leaf,Band,Mints,Crasher,Milk,Breath,Train,Berry,Fuel,Queen,Burst,Slush,Sorbet,Gelato,Soda,Float,Custard,Truffle,Donut,Waffle,Pancake,Muffin,Brownie,Bread,Jam,Jelly,Syrup,Taffy,Fizz,Spritz,Smoothie,Lemonade,Tonic,Cooler,Fire,Storm,Rocket,Comet,Nebula,Galaxy,Planet,Moon,Star,Cloud,Frost,Snow,Glacier,Peak,Valley,Canyon,Ridge,Creek,Lagoon,Reef,Tide,Wave,Beach,Palm,Forest,Grove,Orchard,Garden,Meadow,Prairie,Tiger,Panther,Wolf,Eagle,Falcon,Cobra,Viper,Unicorn,Phoenix,Wizard,Warrior,Pirate,Cowboy,Outlaw,Bandit', made_share(n, 5)) END AS strain
  FROM generate_series(0, 29999) n;

CREATE UNIQUE INDEX made_brands_key ON made_brands (n);
CREATE UNIQUE INDEX made_strains_key ON made_strains (n);

CREATE FUNCTION made_name(n bigint, OUT brand text, OUT name text) LANGUAGE sql STABLE PARALLEL SAFE AS $f$
  SELECT (SELECT b.brand FROM made_brands b WHERE b.n = floor(2500 * made_share(made_name.n, 7) ^ 2)::int),
         (SELECT s.strain FROM made_strains s WHERE s.n = floor(30000 * made_share(made_name.n, 6) ^ 3)::int) || ' '
         || made_choice('3.5g,1g Pre-Roll,7g Smalls,14g,28g Ounce,0.5g Vape Cartridge,1g Disposable,1g Live Resin,1g Badder,1g Shatter,1g Live Rosin,2g Infused Pre-Roll,5pk Pre-Rolls,Gummies 100mg,Edible Chews 10pk,Chocolate Bar 100mg,Tincture 30ml,Topical Balm 500mg,Capsules 25mg,Hash Rosin,Distillate Syringe 1g,Sparkling Beverage 10mg,Mints 40pk,Diamonds and Sauce,Sugar Wax 1g,Crumble,Bath Bomb,Lotion 200mg,Transdermal Patch', made_share(made_name.n, 8))
$f$;
";
