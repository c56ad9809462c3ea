//! The store list: CSV text with a header in; checked stores, and the lines with faults, out.

use std::collections::HashMap;

use crate::cli::list_file::{self, BadLine, Columns, Header, at};
use api::store_draft::StoreDraft;
use domain::store::NewStore;
use domain::store::menu_urls::MenuUrls;

const COLUMNS: Columns = Columns {
    known: &[
        "name",
        "platform",
        "platform_dispensary_id",
        "slug",
        "menu_url",
        "api_host",
        "api_path",
        "city",
        "state",
        "timezone",
        "groups",
    ],
    required: 1,
};

/// Content of a list.
#[derive(Debug)]
pub struct StoreList<'a> {
    pub stores: Vec<NewStore>,
    pub bad: Vec<BadLine<'a>>,
    pub header: &'a str,
}

/// Reads the list, or returns the faults of all of it; `file` is only for the messages. `fault` finds further
/// faults of a store.
pub fn read<'a>(
    file: &str,
    text: &'a str,
    urls: &dyn MenuUrls,
    fault: impl Fn(&NewStore) -> Option<String>,
) -> Result<StoreList<'a>, String> {
    let mut lines = list_file::lines(text);
    let (n, first) = lines.find(|(_, line)| !list_file::is_comment(line)).unwrap_or((1, ""));
    if Header::names(first, "host") {
        return Err(at(file, n, "this is a list of proxies: import it with `drover proxies import`".to_owned()));
    }
    let header = Header::parse(first, &COLUMNS).map_err(|fault| at(file, n, fault))?;

    let mut stores = Vec::new();
    let mut first_lines = HashMap::new();
    // of stores without an id: one store is known by each
    let mut first_slugs = HashMap::new();
    let rows = lines.filter(|(_, line)| !header.is_comment(line));
    let bad = list_file::read_lines(file, rows, |n, line| {
        let store = header.row::<StoreDraft>(line).map_err(|fault| vec![fault])?.check(urls)?;
        if let Some(fault) = fault(&store) {
            return Err(vec![fault]);
        }
        if let Some(id) = &store.platform_dispensary_id {
            let first = *first_lines.entry((store.platform.name(), id.clone())).or_insert(n);
            if first != n {
                return Err(vec![format!("platform_dispensary_id '{id}' is already in line {first}")]);
            }
        }
        if let Some(slug) = store.slug.as_ref().filter(|_| store.platform_dispensary_id.is_none()) {
            let first = *first_slugs.entry((store.platform.name(), slug.clone())).or_insert(n);
            if first != n {
                return Err(vec![format!(
                    "slug '{slug}' is already in line {first}: give the platform's id of another store with it"
                )]);
            }
        }
        stores.push(store);
        Ok(())
    })?;
    Ok(StoreList { stores, bad, header: first })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::platforms::MenuAddresses;
    use settings::Config;

    /// Reads a list; any fault refuses the whole of it.
    fn parse(file: &str, text: &str) -> Result<Vec<NewStore>, Vec<String>> {
        let list =
            read(file, text, &MenuAddresses::of(&Config::with(&[]).unwrap()), |_| None).map_err(|fault| vec![fault])?;
        if list.bad.is_empty() { Ok(list.stores) } else { Err(list_file::faults(file, &list.bad)) }
    }

    #[test]
    fn names_may_hold_commas_and_columns_come_in_any_order() {
        let text = "\u{feff}state,name,menu_url\r\n# closed ones are left out\r\naz,\"Shop, The\",https://dutchie.com/dispensary/the-shop\r\n";
        let stores = parse("stores.csv", text).unwrap();
        assert_eq!((stores.len(), stores[0].name.as_str()), (1, "Shop, The"));
        assert_eq!(stores[0].state.as_deref(), Some("AZ"));
    }

    #[test]
    fn a_list_that_a_spreadsheet_saved_keeps_a_name_with_a_hash() {
        let text = "\u{feff}sep=,\r\n\"name\",\"slug\",,\r\n# ours\r\n#1 Shop,shop-1,,\r\n,,,\r\n\"# Two, The\",two,,\r\n,,,\r\n";
        let stores = parse("stores.csv", text).unwrap();
        assert_eq!(stores.iter().map(|store| store.name.as_str()).collect::<Vec<_>>(), ["#1 Shop", "# Two, The"]);
    }

    #[test]
    fn the_sample_list_can_be_imported() {
        let stores = parse("stores.csv", include_str!("../../../config/examples/stores.csv")).unwrap();
        assert!(stores.iter().any(|store| store.platform_dispensary_id.is_none()), "one to look up");
        assert!(stores.iter().any(|store| store.groups.len() > 1), "one in several groups");
    }

    #[rstest]
    #[case::dos("name,slug,state\r\nA1,a1,AZ\r\nB1,b1,Arizona\r\n", 3)]
    #[case::blank_lines("\nname,slug,state\n\nA1,a1,AZ\n\nB1,b1,Arizona\n", 6)]
    #[case::comments("name,slug,state\n# one\n# two\nB1,b1,Arizona", 4)]
    fn lines_are_counted_as_an_editor_does(#[case] text: &str, #[case] line: usize) {
        let faults = parse("s.csv", text).unwrap_err();
        let expected = format!("s.csv line {line}: state 'ARIZONA' is not two letters such as AZ");
        assert_eq!(faults.last(), Some(&expected), "{faults:?}");
    }

    #[test]
    fn a_slug_that_would_be_one_store_twice_is_refused_with_both_lines() {
        let text = "name,slug,platform_dispensary_id\nA,leaf,\nB,leaf,\nC,leaf,7\n";
        let faults = parse("stores.csv", text).unwrap_err();
        let expected =
            "stores.csv line 3: slug 'leaf' is already in line 2: give the platform's id of another store with it";
        assert_eq!(faults, [expected]);
    }

    #[test]
    fn all_faults_come_at_once_with_their_lines() {
        let text = "name,platform_dispensary_id,state\nA,1,Arizona\nB,2,AZ\nC,2,AZ\n,3,AZ\nD\n";
        let faults = parse("stores.csv", text).unwrap_err();
        let expected = [
            "stores.csv line 2: state 'ARIZONA' is not two letters such as AZ",
            "stores.csv line 4: platform_dispensary_id '2' is already in line 3",
            "stores.csv line 5: name is missing",
            "stores.csv line 6: its number of cells is 1, but the header's is 3",
        ];
        assert_eq!(faults, expected);
    }

    #[rstest]
    #[case::unknown_column("name,colour\nA,red\n", "unknown column 'colour': the columns are name, platform, ")]
    #[case::proxies("protocol,host,port\n", "this is a list of proxies: import it with `drover proxies import`")]
    #[case::no_name("slug\na\n", "the column 'name' is missing")]
    #[case::empty("", "the column 'name' is missing")]
    #[case::twice("name,name\nA,B\n", "column 'name' appears twice")]
    #[case::a_quoted_break("name,slug\nA,\"a\n", "a quote is not closed")]
    fn a_bad_header_or_quote_is_refused(#[case] text: &str, #[case] fault: &str) {
        let faults = parse("stores.csv", text).unwrap_err();
        assert!(faults.len() == 1 && faults[0].contains(fault), "{faults:?}");
    }

    #[test]
    fn a_platform_is_recognised_by_the_menus_url() {
        let text = "name,menu_url\nA,https://dutchie.com/dispensary/a\nB,https://www.iheartjane.com/stores/5876/copper-fern/menu\n\
                    C,https://weedmaps.com/deliveries/copper-fern\nD,https://www.leafly.com/dispensary-info/copper-fern/menu\n";
        let stores = parse("stores.csv", text).unwrap();
        assert_eq!(
            stores.iter().map(|store| store.platform.name()).collect::<Vec<_>>(),
            ["dutchie", "jane", "weedmaps", "leafly"]
        );
    }

    #[test]
    fn every_column_of_the_header_is_read() {
        let header = COLUMNS.known.join(",");
        let text =
            format!("{header}\nA,dutchie,1,a,https://dutchie.com/a,h.example,/g,Mesa,AZ,America/Phoenix,rivals;az\n");
        let store = parse("s.csv", &text).unwrap().remove(0);
        assert_eq!((store.city.as_deref(), store.timezone.as_deref()), (Some("Mesa"), Some("America/Phoenix")));
        assert_eq!(store.groups, ["az", "rivals"]);
        assert_eq!((store.api_host.as_deref(), store.api_path.as_deref()), (Some("h.example"), Some("/g")));
    }
}
