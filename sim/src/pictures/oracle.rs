//! The oracle of pictures: it knows a careful client's result for each address of this world.

use super::address::Address;
use super::kind::PictureKind;
use super::photo::Photo;
use super::plan::{Plan, Subject};
use crate::world::World;

/// Picture as a product's or brand's row must show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OraclePicture {
    /// The hash of the file as it is downloaded, in hex.
    Good { sha256: String },
    /// The reason that every try fails for: see [`PictureKind::failure`].
    Bad { reason: &'static str },
}

/// The same with the file itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PictureAnswer {
    Good(Photo),
    Bad { reason: &'static str },
}

pub(crate) fn product(world: &World, url: &str) -> Option<OraclePicture> {
    of_subject(world, Subject::Product, url)
}

pub(crate) fn logo(world: &World, url: &str) -> Option<OraclePicture> {
    of_subject(world, Subject::Logo, url)
}

pub(crate) fn answer(world: &World, url: &str) -> Option<PictureAnswer> {
    let plan = plan(world, url)?;
    Some(match plan.kind.failure() {
        Some(reason) => PictureAnswer::Bad { reason },
        None => PictureAnswer::Good(Photo::of(plan.content).as_ref().clone()),
    })
}

pub(crate) fn kind(world: &World, url: &str) -> Option<PictureKind> {
    Some(plan(world, url)?.kind)
}

fn plan(world: &World, url: &str) -> Option<Plan> {
    let address = world.pictures.address(url)?;
    let subject = world.picture_subject(address)?;
    Some(Plan::of(world.seed, subject, address.hash))
}

fn of_subject(world: &World, subject: Subject, url: &str) -> Option<OraclePicture> {
    let Address { hash, .. } = world.pictures.address(url)?;
    let plan = Plan::of(world.seed, subject, hash);
    Some(match plan.kind.failure() {
        Some(reason) => OraclePicture::Bad { reason },
        None => OraclePicture::Good { sha256: Photo::of(plan.content).sha256.clone() },
    })
}
