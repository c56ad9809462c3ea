//! `TlsFront`: TLS before a forward proxy, which makes it an https proxy.

use std::net::SocketAddr;

use drover::stealth::{Proxy, ProxyProtocol};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::ForwardProxy;

pub struct TlsFront {
    address: SocketAddr,
}

impl TlsFront {
    pub async fn before(proxy: &ForwardProxy, acceptor: TlsAcceptor) -> TlsFront {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, behind) = (listener.local_addr().unwrap(), proxy.address());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass_on(stream, acceptor.clone(), behind));
            }
        });
        TlsFront { address }
    }

    pub fn as_row(&self, proxy: &ForwardProxy, id: i64) -> Proxy {
        Proxy { protocol: ProxyProtocol::Https, port: self.address.port(), ..proxy.as_row(id) }
    }
}

async fn pass_on(stream: TcpStream, acceptor: TlsAcceptor, behind: SocketAddr) -> Option<()> {
    let mut client = acceptor.accept(stream).await.ok()?;
    let mut proxy = TcpStream::connect(behind).await.ok()?;
    copy_bidirectional(&mut client, &mut proxy).await.ok().map(drop)
}
