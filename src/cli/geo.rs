//! `drover geo lookup`: looks up an address in the file of `geo.database`.

use std::net::IpAddr;

use clap::Subcommand;

use super::{CliError, Env, ExitCode};
use contract::geo::LocatedAddress;
use geo::Geo;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the country, region, city and time zone of an IP address
    Lookup {
        /// IPv4 or IPv6 address
        #[arg(value_name = "IP")]
        address: IpAddr,
    },
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    let Command::Lookup { address } = command;
    let located: LocatedAddress = match env.is_remote() {
        true => env.api_to_read().await?.get(&format!("/api/geo/{address}")).await?,
        false => look_up(address, env).await?,
    };
    env.out.either(&located, text)?;
    Ok(ExitCode::Ok)
}

/// Looks the address up in the file alone: no database is needed.
async fn look_up(ip: IpAddr, env: &Env) -> Result<LocatedAddress, CliError> {
    let geo = Geo::new(env.config.geo.database.as_deref());
    geo.refresh().await;
    match geo.look_up(ip) {
        Ok(Some(place)) => Ok(LocatedAddress { ip, place }),
        Ok(None) => Err(CliError::not_found(format!("{ip} is not in the geo database"))),
        Err(error) => Err(CliError { code: ExitCode::Unavailable, message: error.to_string() }),
    }
}

fn text(LocatedAddress { ip, place }: &LocatedAddress) -> String {
    let country = match (&place.country, &place.country_name) {
        (Some(code), Some(name)) => Some(format!("{code} {name}")),
        (code, name) => code.clone().or(name.clone()),
    };
    let fields = [
        ("address", Some(ip.to_string())),
        ("country", country),
        ("region", place.region.clone()),
        ("city", place.city.clone()),
        ("timezone", place.timezone.clone()),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("{name:<10}{}", value?)));
    fields.collect::<Vec<_>>().join("\n")
}
