//! `pipeline`: sends statements on one connection without waiting between them.
//!
//! In: independent calls of one [`Client`](crate::Client) or [`Tx`](crate::Tx). Out: both answers, or the
//! failure that counts. The server runs the statements one after the other, in either order: the first use of
//! a statement on a connection prepares it, and another may overtake it. Only the waits in between are saved.

use crate::DbError;

/// Runs two calls at once; each may be a sequence. Both have ended when this returns, so the connection stays
/// usable.
pub async fn pipeline<A, B>(
    first: impl Future<Output = Result<A, DbError>>,
    second: impl Future<Output = Result<B, DbError>>,
) -> Result<(A, B), DbError> {
    match futures_util::future::join(first, second).await {
        (Ok(first), Ok(second)) => Ok((first, second)),
        (Err(DbError::Aborted), Err(cause)) | (Err(cause), _) | (_, Err(cause)) => Err(cause),
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures_util::FutureExt;
    use rstest::rstest;

    use super::*;

    fn other(text: &str) -> DbError {
        DbError::Other(text.to_owned())
    }

    #[rstest]
    #[case::the_first_failed(Err(other("first")), Err(DbError::Aborted), "first")]
    #[case::the_second_failed_before_the_end_of_the_first(Err(DbError::Aborted), Err(other("second")), "second")]
    #[case::only_the_second_failed(Ok(()), Err(other("second")), "second")]
    #[case::each_by_itself(Err(other("first")), Err(other("second")), "first")]
    fn the_failure_that_counts_is_the_cause(
        #[case] first: Result<(), DbError>,
        #[case] second: Result<(), DbError>,
        #[case] cause: &str,
    ) {
        let both = pipeline(ready(first), ready(second)).now_or_never().unwrap();
        assert_eq!(both.unwrap_err().to_string(), format!("database: {cause}"));
    }
}
