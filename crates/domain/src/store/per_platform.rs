//! `PerPlatform`: a value for each menu platform, so that none is missing.
//!
//! In: the list of platforms, and how the value of one is made. Out: a field for each platform, named by its word. It must not know
//! what the values are.

use serde::Deserialize;
use strum::VariantArray;

use super::Platform;
use crate::platform_list::for_each_platform;

macro_rules! per_platform {
    ($($variant:ident = $folder:ident,)+) => {
        #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct PerPlatform<T> {
            $(pub $folder: T,)+
        }

        impl<T> PerPlatform<T> {
            /// Makes the value of each platform, one after the other.
            pub fn made(mut make: impl FnMut(Platform) -> T) -> PerPlatform<T> {
                PerPlatform { $($folder: make(Platform::$variant),)+ }
            }

            pub fn iter_mut(&mut self) -> impl Iterator<Item = (Platform, &mut T)> {
                [$((Platform::$variant, &mut self.$folder),)+].into_iter()
            }

            pub fn of(&self, platform: Platform) -> &T {
                match platform {
                    $(Platform::$variant => &self.$folder,)+
                }
            }
        }

        impl<T> PerPlatform<Option<T>> {
            /// None when one platform has none.
            pub fn all(self) -> Option<PerPlatform<T>> {
                Some(PerPlatform { $($folder: self.$folder?,)+ })
            }
        }
    };
}

for_each_platform!(per_platform);

impl<T> PerPlatform<T> {
    pub fn iter(&self) -> impl Iterator<Item = (Platform, &T)> {
        Platform::VARIANTS.iter().map(|platform| (*platform, self.of(*platform)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_platform_has_the_value_that_was_made_for_it() {
        let words = PerPlatform::made(Platform::name);
        assert_eq!(words.iter().filter(|(platform, word)| platform.name() != **word).count(), 0);
        assert_eq!(words.iter().count(), Platform::VARIANTS.len());
        assert!(PerPlatform::made(Some).all().is_some());
        assert!(
            PerPlatform::made(|platform| Some(platform).filter(|other| *other != Platform::DEFAULT)).all().is_none()
        );
    }

    #[test]
    fn a_platforms_word_is_the_name_of_its_folder() {
        macro_rules! folders {
            ($($variant:ident = $folder:ident,)+) => {
                [$((Platform::$variant, stringify!($folder)),)+]
            };
        }
        for (platform, folder) in for_each_platform!(folders) {
            assert_eq!(platform.name(), folder);
        }
    }
}
