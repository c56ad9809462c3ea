//! A media site: the services that media jobs ask, on one address of loopback, with an oracle.
//!
//! In: a [`MediaPlan`]. Out: a running [`MediaSite`]; the same plan makes the same accounts, threads, videos
//! and files on every machine. Beside the site there are an origin of its own for redirects and files that
//! live elsewhere, and a receiver of mails. A [`RawReceiver`] of webhooks works by itself. It must not know who asks.

mod accounts;
mod answer;
mod connections;
mod content;
mod dates;
mod discourse;
mod easynews;
mod faults;
mod feed;
mod files;
mod forum_pages;
mod hooks;
mod markup;
mod oracle;
mod plan;
mod raw_receiver;
mod requests;
mod router;
mod server;
mod site;
mod smtp;
mod threads;
mod tmdb;
mod watch;
mod world;

pub use content::{FileKind, MediaFile};
pub use easynews::EasynewsFile;
pub use faults::{MediaFault, MediaFaultKind};
pub use hooks::{Delivery, HookAnswer, HookScript};
pub use oracle::{Account, AccountKind, AccountPost, Channel, Credit, Person, Search, Video};
pub use plan::{
    AccountPlan, ChannelPlan, DiscourseKey, Login, MediaPlan, PersonPlan, SearchPlan, ThreadAccess, ThreadKind,
    ThreadPlan,
};
pub use raw_receiver::{AfterAnswer, RawAnswer, RawReceiver};
pub use requests::{Occurrence, Origin, SeenRequest};
pub use site::MediaSite;
pub use smtp::{Mail, MailEnding, MailLogin, MailScript};
pub use threads::{ForumLink, ForumPost, Thread};
