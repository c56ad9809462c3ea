//! Any text as a list of proxies: each accepted entry can be used as it is, and each rejected one is reported
//! by at least one fault.

use drover::cli::proxies::list;

pub const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    ",",
    "\"",
    "\"\"",
    ":",
    "@",
    "://",
    "http",
    "socks5",
    "socks5h",
    "https",
    "[::1]",
    "%",
    "%00",
    "%zz",
    "host,port,protocol,username,password\n",
    "0",
    "65536",
    "99999999999999999999",
    "\0",
    "\u{feff}",
    "é",
    "#",
    " ",
    "\t",
    "AZ",
    "America/Phoenix",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "host,port,protocol,username,password,state_code,timezone\np1.test,8080,http,user,\"pass,word\",AZ,America/Phoenix\np2.test,1080,socks5,,,,\n",
        "# a comment\n10.0.0.1:8080\n10.0.0.2:8080:user:pa:ss\n[2001:db8::1]:3128\n",
        "http://user:p%40ss@proxy.test:8080\nsocks5://proxy.test:1080/\n",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

pub fn run(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    match list::parse("proxies.csv", &text) {
        Err(faults) => {
            assert!(!faults.is_empty() && faults.iter().all(|fault| fault.len() < 4096), "{faults:?}");
            let lengths = faults.iter().take(3).fold(0, |sum, fault| sum * 97 + fault.len() as u64 % 97);
            1_000_000 + lengths
        }
        Ok(list) => {
            for entry in &list.entries {
                assert!(!entry.host.is_empty() && entry.host.len() <= 253 && entry.port > 0, "{entry:?}");
                assert!(!entry.host.contains(|c: char| c.is_control() || c.is_whitespace()), "{entry:?}");
                let login = [&entry.username, &entry.password];
                let is_fit = |text: &String| !text.is_empty() && text.len() <= 255 && !text.contains(char::is_control);
                assert!(login.into_iter().flatten().all(is_fit), "a login that cannot be sent, for {}", entry.host);
                assert!(entry.username.is_some() || entry.password.is_none(), "a password of nobody");
            }
            list.entries.len().min(9) as u64 * 10 + list.duplicates.len().min(9) as u64
        }
    }
}
