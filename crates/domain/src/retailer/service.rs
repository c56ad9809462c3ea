//! `Service`: for whom a store's menu is. In: the platform's flags and the words of the name. Out: whether two stores of one platform
//! may be one retailer, which has a menu for recreational and one for medical customers, or one for deliveries.

use super::StoreRecord;

const RECREATIONAL: [&str; 4] = ["rec", "recreational", "adult", "au"];
const MEDICAL: [&str; 4] = ["med", "medical", "mmj", "patients"];
const DELIVERY: [&str; 2] = ["delivery", "deliveries"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Service {
    recreational: Option<bool>,
    medical: Option<bool>,
    delivery: Option<bool>,
}

impl Service {
    /// The flags of the platform; for those that it does not have, the words of the name.
    pub fn new(store: &StoreRecord, name: &[String]) -> Service {
        let has = |words: &[&str]| name.iter().any(|word| words.contains(&word.as_str()));
        let (rec, med) = (has(&RECREATIONAL), has(&MEDICAL));
        let is_for_one = rec != med;
        Service {
            recreational: store.is_recreational.or(is_for_one.then_some(rec)),
            medical: store.is_medical.or(is_for_one.then_some(med)),
            delivery: store.is_delivery.or(has(&DELIVERY).then_some(true)),
        }
    }

    pub fn is_delivery(self) -> bool {
        self.delivery == Some(true)
    }

    /// Whether both are known, and are not the same.
    pub fn differs(self, other: Service) -> bool {
        let differ = |one: Option<bool>, other: Option<bool>| one.is_some() && other.is_some() && one != other;
        differ(self.recreational, other.recreational)
            || differ(self.medical, other.medical)
            || self.is_delivery() != other.is_delivery()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn service(name: &str, flags: [Option<bool>; 3]) -> Service {
        let [is_recreational, is_medical, is_delivery] = flags;
        let store = StoreRecord { is_recreational, is_medical, is_delivery, ..StoreRecord::default() };
        Service::new(&store, &name.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    const REC: [Option<bool>; 3] = [Some(true), Some(false), None];
    const MED: [Option<bool>; 3] = [Some(false), Some(true), None];
    const BOTH: [Option<bool>; 3] = [Some(true), Some(true), None];
    const DELIVERY: [Option<bool>; 3] = [Some(true), Some(true), Some(true)];
    const UNKNOWN: [Option<bool>; 3] = [None; 3];

    #[rstest]
    #[case::by_flags(("fern", REC), ("fern", MED), true)]
    #[case::the_same(("fern", REC), ("fern", REC), false)]
    #[case::one_for_both(("fern", BOTH), ("fern", MED), true)]
    #[case::by_name(("fern rec", UNKNOWN), ("fern medical", UNKNOWN), true)]
    #[case::a_name_for_both(("fern rec med", UNKNOWN), ("fern medical", UNKNOWN), false)]
    #[case::unknown(("fern", UNKNOWN), ("fern", MED), false)]
    #[case::flags_before_the_name(("fern rec", MED), ("fern", MED), false)]
    #[case::delivery(("fern", BOTH), ("fern", DELIVERY), true)]
    #[case::delivery_by_name(("fern delivery", UNKNOWN), ("fern", UNKNOWN), true)]
    fn services_differ_where_both_are_known(
        #[case] one: (&str, [Option<bool>; 3]),
        #[case] other: (&str, [Option<bool>; 3]),
        #[case] differ: bool,
    ) {
        let (one, other) = (service(one.0, one.1), service(other.0, other.1));
        assert_eq!([one.differs(other), other.differs(one)], [differ, differ]);
    }
}
