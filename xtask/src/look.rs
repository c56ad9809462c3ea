//! `Look`: how a page is looked at.

/// Width and height in CSS pixels, and whether the system's scheme is dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    pub is_dark: bool,
}

impl Look {
    /// A desk and a phone, each by day and by night.
    pub const ALL: [Look; 4] = [Look::desk(false), Look::desk(true), Look::phone(false), Look::phone(true)];

    pub const fn desk(is_dark: bool) -> Look {
        Look { width: 1280, height: 900, is_dark }
    }

    pub const fn phone(is_dark: bool) -> Look {
        Look { width: 390, height: 844, is_dark }
    }

    /// `1280-dark`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.width, if self.is_dark { "dark" } else { "light" })
    }
}
