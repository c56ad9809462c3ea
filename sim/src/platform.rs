//! The platforms of the world: tables of what each one has in its folder, `src/platforms/*/sim`.
//!
//! A folder has `State`, a [`PlatformState`], and its `Settings`; `is_path` and `respond`, its answers; `seed` and `oracle`, a store
//! as it knows it and the expected rows of that. It must not know a platform.

use std::io;

use http::{Request, Response};
use hyper::body::Incoming;

use crate::body::Body;
use crate::catalogue::StoreSeed;
use crate::oracle::OracleStore;
use crate::platforms::*;
use crate::settings::Settings;
use crate::world::World;
use domain::for_each_platform;
use domain::store::Platform;

/// Settings of a platform that has none.
#[derive(Clone, Debug, Default)]
pub struct NoSettings {}

/// The part of a world that one platform alone knows.
pub(crate) trait PlatformState {
    fn new(settings: &Settings) -> Self;

    /// The key that the platform takes now; none = it takes none.
    fn key(&self) -> Option<String> {
        None
    }
}

macro_rules! tables {
    ($($variant:ident = $folder:ident,)+) => {
        /// Settings of the platforms.
        #[derive(Clone, Debug, Default)]
        pub struct PlatformSettings {
            $(pub $folder: $folder::Settings,)+
        }

        /// Parts of a world that one platform alone knows.
        pub(crate) struct States {
            $(pub(crate) $folder: $folder::State,)+
        }

        impl States {
            pub(crate) fn new(settings: &Settings) -> States {
                States { $($folder: $folder::State::new(settings),)+ }
            }

            /// The key that the platform takes now; none = it takes none.
            pub(crate) fn key(&self, platform: Platform) -> Option<String> {
                match platform {
                    $(Platform::$variant => self.$folder.key(),)+
                }
            }
        }

        /// The platform that answers requests for this path.
        pub(crate) fn of_path(path: &str) -> Option<Platform> {
            $(if $folder::is_path(path) {
                return Some(Platform::$variant);
            })+
            None
        }

        /// An error closes the connection without an answer.
        pub(crate) async fn respond(
            platform: Platform,
            world: &World,
            request: Request<Incoming>,
            proxy: Option<usize>,
        ) -> io::Result<Response<Body>> {
            match platform {
                $(Platform::$variant => $folder::respond(world, request, proxy).await,)+
            }
        }

        /// The store as an operator would import it; none where it is a store of another platform.
        pub(crate) fn seed(platform: Platform, world: &World, store: &StoreSeed, base_url: &str) -> Option<StoreSeed> {
            match platform {
                $(Platform::$variant => $folder::seed(world, store, base_url),)+
            }
        }

        /// The rows of a store that has a [`seed`], after crawls 1 … `crawl`.
        pub(crate) fn oracle(platform: Platform, world: &World, store: &StoreSeed, crawl: u32) -> Option<OracleStore> {
            match platform {
                $(Platform::$variant => $folder::oracle(world, store, crawl),)+
            }
        }
    };
}

for_each_platform!(tables);
