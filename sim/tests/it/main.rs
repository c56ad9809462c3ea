//! The simulator as its users meet it: over sockets, through its proxies.

mod support;

mod menus;
mod proxies;
