//! The oracle: all that the site has now, as a careful reader would have it. Forums' threads and Easynews'
//! files are beside the code that serves them.

use chrono::{DateTime, NaiveDate, Utc};

use super::content::MediaFile;
use super::easynews::EasynewsFile;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountKind {
    Mastodon,
    /// A tag of a board; each of its posts has one file.
    Moebooru,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub kind: AccountKind,
    pub name: String,
    pub token: Option<String>,
    /// Newest first.
    pub posts: Vec<AccountPost>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountPost {
    pub id: u64,
    pub text: String,
    pub posted_at: DateTime<Utc>,
    pub files: Vec<MediaFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub id: String,
    pub author: String,
    /// Newest first; the feed shows 15 of them.
    pub videos: Vec<Video>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Video {
    pub id: String,
    pub title: String,
    pub published_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// File behind its watch page.
    pub file: MediaFile,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    pub query: String,
    /// Newest first.
    pub files: Vec<EasynewsFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub id: i64,
    pub cast: Vec<Credit>,
    pub crew: Vec<Credit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credit {
    pub credit_id: String,
    /// The film's or series' own id.
    pub tmdb_id: i64,
    /// `movie` or `tv`.
    pub media_type: &'static str,
    pub title: String,
    pub character: Option<String>,
    pub department: Option<String>,
    pub job: Option<String>,
    pub episode_count: Option<i32>,
    pub released_on: Option<NaiveDate>,
}

impl Account {
    /// All files, those of the newest post first.
    pub fn files(&self) -> impl Iterator<Item = &MediaFile> {
        self.posts.iter().flat_map(|post| &post.files)
    }
}
