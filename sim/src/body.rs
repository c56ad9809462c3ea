//! `Body`: the body of every answer.

use std::io;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;

pub(crate) type Body = BoxBody<Bytes, io::Error>;
