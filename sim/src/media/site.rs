//! `MediaSite`: the handle to a running site. Dropping it ends the site and frees its ports.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::content::MediaFile;
use super::easynews::{self, EasynewsFile};
use super::faults::MediaFault;
use super::hooks::{Delivery, HookScript};
use super::oracle::{Account, AccountKind, AccountPost, Channel, Credit, Person, Search, Video};
use super::plan::{MediaPlan, ThreadKind};
use super::requests::{Occurrence, Origin, SeenRequest};
use super::smtp::{self, Mail, MailScript};
use super::threads::{self, ForumPost, Thread};
use super::world::World;
use super::{accounts, feed, server};

pub struct MediaSite {
    world: Arc<World>,
    mail: SocketAddr,
    _servers: JoinSet<()>,
}

impl MediaSite {
    /// Binds three ports of loopback and serves on the caller's runtime. Fails when there is no port.
    pub async fn start(plan: MediaPlan) -> Result<MediaSite> {
        let (site, elsewhere, mail) = (bind().await?, bind().await?, bind().await?);
        // another name, since ports make no difference to cookies
        let urls =
            (format!("http://{}", site.local_addr()?), format!("http://localhost:{}", elsewhere.local_addr()?.port()));
        let world = Arc::new(World::new(plan, urls.0, urls.1));
        let mail_address = mail.local_addr()?;
        let mut servers = JoinSet::new();
        servers.spawn(server::serve(world.clone(), Origin::Site, site));
        servers.spawn(server::serve(world.clone(), Origin::Elsewhere, elsewhere));
        servers.spawn(smtp::serve(world.clone(), mail));
        Ok(MediaSite { world, mail: mail_address, _servers: servers })
    }

    /// Scheme, host and port, without a slash at the end: the base address of every service.
    pub fn url(&self) -> &str {
        &self.world.url
    }

    /// The same of the other origin, which has files alone.
    pub fn elsewhere(&self) -> &str {
        &self.world.elsewhere
    }

    /// Address of the receiver of mails.
    pub fn mail_address(&self) -> SocketAddr {
        self.mail
    }

    /// The address of a path, such as a file's.
    pub fn address(&self, path: &str) -> String {
        self.world.address(path)
    }

    pub fn plan(&self) -> &MediaPlan {
        &self.world.plan
    }

    /// An account's address, as gallery-dl takes it.
    pub fn account_address(&self, kind: AccountKind, name: &str) -> String {
        match kind {
            AccountKind::Mastodon => format!("mastodon:{}", self.address(&format!("/@{name}"))),
            AccountKind::Moebooru => format!("moebooru:{}", self.address(&format!("/post?tags={name}"))),
        }
    }

    pub fn watch_address(&self, video: &str) -> String {
        self.address(&format!("/watch?v={video}"))
    }
}

/// The oracle: all that there is now.
impl MediaSite {
    pub fn accounts(&self) -> Vec<Account> {
        self.world.inventory().accounts.clone()
    }

    pub fn account(&self, kind: AccountKind, name: &str) -> Option<Account> {
        self.accounts().into_iter().find(|account| account.kind == kind && account.name == name)
    }

    pub fn channel(&self, id: &str) -> Option<Channel> {
        self.world.channel(id)
    }

    pub fn threads(&self) -> Vec<Thread> {
        self.world.inventory().threads.clone()
    }

    pub fn thread(&self, kind: ThreadKind, id: u64) -> Option<Thread> {
        self.threads().into_iter().find(|thread| thread.kind == kind && thread.id == id)
    }

    pub fn search(&self, query: &str) -> Option<Search> {
        self.world.inventory().searches.iter().find(|search| search.query == query).cloned()
    }

    pub fn person(&self, id: i64) -> Option<Person> {
        self.world.inventory().people.iter().find(|person| person.id == id).cloned()
    }

    pub fn file(&self, path: &str) -> Option<MediaFile> {
        self.world.file(path)
    }

    /// The file that comes in its place while the fault `Changed` is met.
    pub fn changed_file(&self, path: &str) -> Option<MediaFile> {
        Some(self.world.file(path)?.changed())
    }
}

/// Changes while the site runs. None: there is no such subject.
impl MediaSite {
    pub fn publish_post(&self, kind: AccountKind, name: &str) -> Option<AccountPost> {
        let mut inventory = self.world.inventory();
        let account = inventory.accounts.iter_mut().find(|account| account.kind == kind && account.name == name)?;
        let post = accounts::add_post(self.world.plan.seed, account);
        inventory.list_files();
        Some(post)
    }

    pub fn publish_video(&self, channel: &str) -> Option<Video> {
        let mut inventory = self.world.inventory();
        let channel = inventory.channels.iter_mut().find(|of| of.id == channel)?;
        let video = feed::add_video(self.world.plan.seed, channel);
        inventory.list_files();
        Some(video)
    }

    pub fn publish_forum_post(&self, kind: ThreadKind, id: u64) -> Option<ForumPost> {
        let mut inventory = self.world.inventory();
        let thread = inventory.threads.iter_mut().find(|thread| thread.kind == kind && thread.id == id)?;
        let post = threads::add_post(self.world.plan.seed, thread);
        inventory.list_files();
        Some(post)
    }

    pub fn publish_easynews_file(&self, query: &str) -> Option<EasynewsFile> {
        let mut inventory = self.world.inventory();
        let search = inventory.searches.iter_mut().find(|search| search.query == query)?;
        let file = easynews::add_file(self.world.plan.seed, search);
        inventory.list_files();
        Some(file)
    }

    /// Takes a credit away from a person, and returns it.
    pub fn remove_credit(&self, person: i64, credit_id: &str) -> Option<Credit> {
        let mut inventory = self.world.inventory();
        let person = inventory.people.iter_mut().find(|of| of.id == person)?;
        let lists = [&mut person.cast, &mut person.crew];
        lists.into_iter().find_map(|list| {
            let at = list.iter().position(|credit| credit.credit_id == credit_id)?;
            Some(list.remove(at))
        })
    }

    /// Adds a fault that requests for `path` meet from now on. With its query it is one page; without, all of them.
    pub fn add_fault(&self, path: &str, fault: MediaFault) {
        self.world.faults.add(path, fault);
    }

    /// Removes all faults of `path`.
    pub fn remove_faults(&self, path: &str) {
        self.world.faults.remove(path);
    }

    /// Sets the answers to deliveries to `/hooks/{name}` from now on.
    pub fn script_hook(&self, name: &str, script: HookScript) {
        self.world.hooks.script(name, script);
    }

    /// Sets the replies of the receiver of mails from now on.
    pub fn script_mail(&self, script: MailScript) {
        self.world.mails.script(script);
    }
}

/// Requests and messages that came.
impl MediaSite {
    /// Oldest first; the oldest of thousands are dropped.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.world.requests.all()
    }

    /// Number of requests that are kept no more: [`MediaSite::occurrences`] knows nothing of them.
    pub fn dropped_requests(&self) -> u64 {
        self.world.requests.dropped()
    }

    /// Places in the requests where a text was seen: in paths, headers and bodies, as they are and decoded.
    pub fn occurrences(&self, text: &str) -> Vec<Occurrence> {
        self.world.requests.occurrences(text)
    }

    /// Bytes of the file at `path` that were sent so far, from both origins.
    pub fn bytes_sent(&self, path: &str) -> u64 {
        self.world.sent(path)
    }

    /// Deliveries to `/hooks/{name}`, oldest first.
    pub fn deliveries(&self, name: &str) -> Vec<Delivery> {
        self.world.hooks.of_hook(name)
    }

    /// Messages to `/ntfy/{topic}`, oldest first.
    pub fn ntfy_messages(&self, topic: &str) -> Vec<Delivery> {
        self.world.hooks.of_topic(topic)
    }

    /// Oldest first.
    pub fn mails(&self) -> Vec<Mail> {
        self.world.mails.all()
    }

    /// The recipients that mails were brought for, taken or not, oldest first.
    pub fn asked_recipients(&self) -> Vec<String> {
        self.world.mails.asked()
    }
}

async fn bind() -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("a port on 127.0.0.1")
}
