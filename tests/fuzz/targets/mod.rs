//! One target a file: `run` takes any bytes and returns a number for its effect, so that inputs with a new
//! effect are kept and changed further; `seeds` are well-formed inputs, `WORDS` are texts that a mutation may
//! put into one.

pub mod connect_reply;
pub mod headers;
pub mod jane;
pub mod menu_page;
pub mod menu_url;
pub mod normaliser;
pub mod proxy_list;
pub mod rest;
pub mod robots;
pub mod socks_reply;
pub mod storage_path;
pub mod tool_lines;
