//! `/api/geo`: where an address is, and by that, the states of proxies.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::openapi::{KnownFormat, Object, OneOf, RefOr, Schema, SchemaFormat, Type};
use utoipa::{IntoParams, PartialSchema};

use super::{ApiError, ApiState, Caller, Operator, Path};
use contract::geo::LocatedAddress;
use contract::problem::Problem;
use domain::proxy::ProxyEntry;
use domain::schedule;
use geo::{Geo, GeoError};

#[derive(Deserialize, IntoParams)]
pub struct IpPath {
    /// An address of IPv4 or IPv6
    #[param(value_type = IpText, inline, example = "203.0.113.7")]
    ip: IpAddr,
}

/// An address, for the OpenAPI document.
pub struct IpText;

impl PartialSchema for IpText {
    fn schema() -> RefOr<Schema> {
        let text = |format| Object::builder().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(format)));
        let either = OneOf::builder().item(text(KnownFormat::Ipv4)).item(text(KnownFormat::Ipv6)).build();
        RefOr::T(Schema::OneOf(either))
    }
}

/// Looks up the location of an address in the operator's geo database.
#[utoipa::path(get, path = "/api/geo/{ip}", tag = "geo",
               responses((status = 200, body = LocatedAddress), (status = 503, response = Problem)))]
pub async fn show(
    _: Caller<Operator>,
    State(api): State<ApiState>,
    Path(IpPath { ip }): Path<IpPath>,
) -> Result<Json<LocatedAddress>, ApiError> {
    api.geo.refresh().await;
    let place = api.geo.look_up(ip)?.ok_or_else(|| ApiError::NotFound(format!("{ip} in the geo database")))?;
    Ok(Json(LocatedAddress { ip, place }))
}

/// Gives proxies without a state the one in which their address is, with its time zone unless they have one; returns
/// how many got a state. A host's name gives no address.
pub(super) async fn locate(geo: &Geo, proxies: &mut [ProxyEntry]) -> usize {
    geo.refresh().await;
    let mut located = 0;
    for proxy in proxies.iter_mut().filter(|proxy| proxy.state_code.is_none()) {
        let place = proxy.host.parse().ok().and_then(|address| geo.look_up(address).ok().flatten());
        let Some((state, place)) = place.and_then(|place| Some((place.us_state()?.to_owned(), place))) else {
            continue;
        };
        proxy.state_code = Some(state);
        // files of IP2Location may have an offset in its place
        let zone = place.timezone.filter(|zone| schedule::time_zone::exists(zone));
        proxy.timezone = proxy.timezone.take().or(zone);
        located += 1;
    }
    located
}

impl From<GeoError> for ApiError {
    fn from(error: GeoError) -> Self {
        ApiError::GeoOff(error.to_string())
    }
}
