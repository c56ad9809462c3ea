//! `MediaPlan`: all that a media site has when it starts, and which secrets it asks for.

/// The default has a little of everything, and asks for the secrets that the real services ask for.
#[derive(Clone, Debug)]
pub struct MediaPlan {
    pub seed: u64,
    /// Accounts of a site of Mastodon's kind.
    pub accounts: Vec<AccountPlan>,
    /// Tags of a board of Moebooru's kind.
    pub tags: Vec<AccountPlan>,
    pub channels: Vec<ChannelPlan>,
    pub threads: Vec<ThreadPlan>,
    /// Discourse needs it; None: open to guests.
    pub discourse_key: Option<DiscourseKey>,
    pub searches: Vec<SearchPlan>,
    pub easynews_login: Login,
    /// The files that a search finds are at the other origin.
    pub easynews_files_elsewhere: bool,
    pub people: Vec<PersonPlan>,
    /// A token, sent as a header, or 32 hex digits, sent as a parameter.
    pub tmdb_key: String,
    /// Bearer that topics of ntfy need; None: open to all.
    pub ntfy_token: Option<String>,
    /// The login that the receiver of mails needs; None: open to all.
    pub mail_login: Option<Login>,
}

#[derive(Clone, Debug)]
pub struct AccountPlan {
    pub name: String,
    pub posts: usize,
    /// Bearer that the account needs; None: public.
    pub token: Option<String>,
    /// The oldest post has the bytes of the newest one's first file under another name.
    pub repeats_a_file: bool,
    /// The first file of the newest post is named `../../…`, with encoded slashes.
    pub names_a_path: bool,
}

#[derive(Clone, Debug)]
pub struct ChannelPlan {
    pub id: String,
    pub author: String,
    pub videos: usize,
}

#[derive(Clone, Debug)]
pub struct ThreadPlan {
    pub kind: ThreadKind,
    pub id: u64,
    pub posts: usize,
    /// Posts of a page; Discourse has its own number, 20.
    pub per_page: usize,
    pub access: ThreadAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreadKind {
    Discourse,
    Xenforo,
    Phpbb,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadAccess {
    Open,
    /// A cookie `xf_user` with this value; without it a page for guests comes, with a log-in.
    Cookie(String),
    /// A challenge page, whoever asks.
    Challenge,
}

/// An administrator's: `Api-Key` with `Api-Username`. Alone, as `User-Api-Key`, it is taken as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscourseKey {
    pub key: String,
    pub username: String,
}

#[derive(Clone, Debug)]
pub struct SearchPlan {
    pub query: String,
    pub files: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub username: String,
    pub password: String,
}

#[derive(Clone, Debug)]
pub struct PersonPlan {
    pub id: i64,
    pub cast: usize,
    pub crew: usize,
}

impl Default for MediaPlan {
    fn default() -> Self {
        MediaPlan {
            seed: 1,
            accounts: vec![
                AccountPlan::new("alice", 5).repeating(),
                AccountPlan::new("bob", 45),
                AccountPlan::new("carol", 3).with_token("account-token-of-carol"),
                AccountPlan::new("empty", 0),
            ],
            tags: vec![AccountPlan::new("x", 4)],
            channels: vec![ChannelPlan::new("UCabcdefghijklmnopqrstuv", "Ann & Co", 20)],
            threads: vec![
                ThreadPlan::new(ThreadKind::Discourse, 12, 45),
                ThreadPlan::new(ThreadKind::Discourse, 13, 3),
                ThreadPlan::new(ThreadKind::Xenforo, 21, 23),
                ThreadPlan::new(ThreadKind::Xenforo, 22, 0),
                ThreadPlan::new(ThreadKind::Xenforo, 23, 5).behind(ThreadAccess::Challenge),
                ThreadPlan::new(ThreadKind::Xenforo, 24, 5).behind(ThreadAccess::Cookie("24,forum-cookie".to_owned())),
                ThreadPlan::new(ThreadKind::Phpbb, 31, 23),
                ThreadPlan::new(ThreadKind::Phpbb, 32, 0),
            ],
            discourse_key: Some(DiscourseKey { key: "discourse-key".to_owned(), username: "reader".to_owned() }),
            searches: vec![SearchPlan { query: "quiet harbor".to_owned(), files: 30 }],
            easynews_login: Login::new("member", "easynews-password"),
            easynews_files_elsewhere: false,
            people: vec![PersonPlan { id: 42, cast: 6, crew: 3 }],
            tmdb_key: "tmdb.token".to_owned(),
            ntfy_token: None,
            mail_login: None,
        }
    }
}

impl AccountPlan {
    pub fn new(name: &str, posts: usize) -> AccountPlan {
        AccountPlan { name: name.to_owned(), posts, token: None, repeats_a_file: false, names_a_path: false }
    }

    pub fn with_token(self, token: &str) -> AccountPlan {
        AccountPlan { token: Some(token.to_owned()), ..self }
    }

    pub fn repeating(self) -> AccountPlan {
        AccountPlan { repeats_a_file: true, ..self }
    }

    pub fn naming_a_path(self) -> AccountPlan {
        AccountPlan { names_a_path: true, ..self }
    }
}

impl ChannelPlan {
    pub fn new(id: &str, author: &str, videos: usize) -> ChannelPlan {
        ChannelPlan { id: id.to_owned(), author: author.to_owned(), videos }
    }
}

impl ThreadPlan {
    pub fn new(kind: ThreadKind, id: u64, posts: usize) -> ThreadPlan {
        ThreadPlan { kind, id, posts, per_page: 10, access: ThreadAccess::Open }
    }

    pub fn behind(self, access: ThreadAccess) -> ThreadPlan {
        ThreadPlan { access, ..self }
    }
}

impl Login {
    pub fn new(username: &str, password: &str) -> Login {
        Login { username: username.to_owned(), password: password.to_owned() }
    }
}
