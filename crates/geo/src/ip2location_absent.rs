//! In place of `ip2location_file` in a build without the feature `ip2location`: every such file is refused
//! with the remedy.

use std::convert::Infallible;
use std::net::IpAddr;

use domain::store::place::Place;

pub struct Ip2LocationFile(Infallible);

impl Ip2LocationFile {
    pub fn read(_: &[u8]) -> Result<Self, String> {
        Err("this build reads no IP2Location files: build drover with its default features, or use a file in MaxMind's format".to_owned())
    }

    pub fn look_up(&self, _: IpAddr) -> Result<Option<Place>, String> {
        match self.0 {}
    }
}
