//! Hostile inputs, made by mutation, for everything that reads strangers' input: no input may cause a panic
//! or break a target's promise.
//!
//! Each target has 50,000 inputs in an ordinary run, 200,000 where `CI=true` and a million in `./dev release`;
//! `DROVER_FUZZ_INPUTS=100000000` is a night's run. A failure prints its input; add it to the target's seeds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod driver;
mod stream;
mod targets;

use targets::{
    connect_reply, headers, jane, menu_page, menu_url, normaliser, proxy_list, rest, robots, socks_reply, storage_path,
    tool_lines,
};

#[test]
fn normaliser() {
    driver::drive("normaliser", &normaliser::seeds(), normaliser::WORDS, normaliser::run);
}

#[test]
fn jane() {
    driver::drive("jane", &jane::seeds(), jane::WORDS, jane::run);
}

#[test]
fn rest() {
    driver::drive("rest", &rest::seeds(), rest::WORDS, rest::run);
}

#[test]
fn menu_page() {
    driver::drive("menu_page", &menu_page::seeds(), menu_page::WORDS, menu_page::run);
}

#[test]
fn menu_url() {
    driver::drive("menu_url", &menu_url::seeds(), menu_url::WORDS, menu_url::run);
}

#[test]
fn connect_reply() {
    driver::drive("connect_reply", &connect_reply::seeds(), connect_reply::WORDS, connect_reply::run);
}

#[test]
fn socks_reply() {
    driver::drive("socks_reply", &socks_reply::seeds(), socks_reply::WORDS, socks_reply::run);
}

#[test]
fn storage_path() {
    driver::drive("storage_path", &storage_path::seeds(), storage_path::WORDS, storage_path::run);
}

#[test]
fn headers() {
    driver::drive("headers", &headers::seeds(), headers::WORDS, headers::run);
}

#[test]
fn proxy_list() {
    driver::drive("proxy_list", &proxy_list::seeds(), proxy_list::WORDS, proxy_list::run);
}

#[test]
fn robots() {
    driver::drive("robots", &robots::seeds(), robots::WORDS, robots::run);
}

#[test]
fn tool_lines() {
    driver::drive("tool_lines", &tool_lines::seeds(), tool_lines::WORDS, tool_lines::run);
}
