//! One change for each of several ids: failures are reported and do not stop the rest.

use serde::Serialize;

use super::{ApiClient, ClientError, Env, ExitCode, values};

#[derive(Debug, clap::Args)]
pub struct Ids {
    /// Ids, as shown by the `list` command
    #[arg(required = true, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    pub ids: Vec<i64>,
}

/// Calls the API for each id. With one id its refusal is the error; with several the exit code shows whether some were
/// changed.
pub async fn each<T: Serialize>(
    ids: &[i64],
    env: &Env,
    change: impl AsyncFn(&ApiClient, i64) -> Result<T, ClientError>,
    text: impl Fn(&T) -> String,
) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let (mut done, mut refused) = (0, None);
    for id in ids {
        match change(&api, *id).await {
            Ok(answer) => {
                env.out.either(&answer, &text)?;
                done += 1;
            }
            Err(error) if ids.len() == 1 || error.code == ExitCode::Unavailable => return Err(error.into()),
            Err(error) => {
                tracing::error!("{error}");
                refused.get_or_insert(error.code);
            }
        }
    }
    Ok(match refused {
        None => ExitCode::Ok,
        Some(_) if done > 0 => ExitCode::PartialFailure,
        Some(code) => code,
    })
}
