//! `PagedForum`: forums that are read page by page, XenForo and phpBB, and the addresses of their pages.
//!
//! In: a base address, a thread's number. Out: the address of a page, and the place of a page out of its address.

use url::Url;

use super::below;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagedForum {
    Xenforo,
    Phpbb,
}

impl PagedForum {
    /// The address of a thread's page. `place` is what [`place`](Self::place) said of it before; None: the first
    /// page.
    pub fn page_url(self, base: &Url, thread: &str, place: Option<i32>) -> Url {
        match (self, place) {
            (PagedForum::Xenforo, None) => below(base, &["threads", thread, ""]),
            (PagedForum::Xenforo, Some(page)) => below(base, &["threads", thread, &format!("page-{page}")]),
            (PagedForum::Phpbb, place) => {
                let mut url = below(base, &["viewtopic.php"]);
                url.query_pairs_mut().append_pair("t", thread);
                if let Some(start) = place {
                    url.query_pairs_mut().append_pair("start", &start.to_string());
                }
                url
            }
        }
    }

    /// Place of a page in its thread: its number or, in phpBB, how many posts are before it. None: the first, or an address
    /// of another form.
    pub fn place(self, url: &Url) -> Option<i32> {
        let text = match self {
            PagedForum::Xenforo => url.path_segments()?.rev().find_map(|part| part.strip_prefix("page-"))?.to_owned(),
            PagedForum::Phpbb => url.query_pairs().find(|(name, _)| name == "start")?.1.into_owned(),
        };
        text.parse().ok().filter(|place| *place > 0)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::xenforo(PagedForum::Xenforo, None, "https://f.example/board/threads/21/")]
    #[case::a_page_of_xenforo(PagedForum::Xenforo, Some(3), "https://f.example/board/threads/21/page-3")]
    #[case::phpbb(PagedForum::Phpbb, None, "https://f.example/board/viewtopic.php?t=21")]
    #[case::a_page_of_phpbb(PagedForum::Phpbb, Some(20), "https://f.example/board/viewtopic.php?t=21&start=20")]
    fn a_page_has_an_address_that_says_its_place(
        #[case] software: PagedForum,
        #[case] place: Option<i32>,
        #[case] address: &str,
    ) {
        let url = software.page_url(&"https://f.example/board/".parse().unwrap(), "21", place);
        assert_eq!((url.as_str(), software.place(&url)), (address, place));
    }

    #[rstest]
    #[case::zero(PagedForum::Phpbb, "https://f.example/viewtopic.php?t=1&start=0")]
    #[case::no_number(PagedForum::Xenforo, "https://f.example/threads/1/page-last")]
    #[case::too_large(PagedForum::Xenforo, "https://f.example/threads/1/page-99999999999")]
    #[case::another_form(PagedForum::Xenforo, "https://f.example/t/1?p=3")]
    fn another_address_says_no_place(#[case] software: PagedForum, #[case] address: &str) {
        assert_eq!(software.place(&address.parse().unwrap()), None);
    }
}
