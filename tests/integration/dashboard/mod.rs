//! The dashboard in a real browser, on a real server.

mod access;
mod actions;
mod audit;
mod browsers;
mod changes;
mod charts;
mod every_page;
mod exports;
mod files;
mod keyboard;
mod late_answers;
mod live;
mod media;
mod places;
mod prices;
mod tables;
mod truth;
mod usage;
mod world;
