//! `serve`: the connections of one listener of the media site.
//!
//! In: a listener, and what is done with a connection. It must not know protocols.

use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Accepts until it is dropped, with all of its connections: at most `max` at once, and further ones wait.
pub(super) async fn serve<C>(listener: TcpListener, max: usize, connection: impl Fn(TcpStream) -> C)
where
    C: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= max {
            connections.join_next().await;
        }
        let Ok((stream, _)) = listener.accept().await else {
            // out of file descriptors: others must get some time to close theirs
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        connections.spawn(connection(stream));
    }
}
