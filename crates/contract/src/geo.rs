//! Location of an address.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::store::place::Place;

/// Unknown values are null.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LocatedAddress {
    #[schema(value_type = String)]
    pub ip: IpAddr,
    #[serde(flatten)]
    pub place: Place,
}
