//! `BareRefusal`: the HTTP library's own 4xx for a malformed request, rewritten as a problem document.
//!
//! In: bytes that go to a client. Out: the refusal at their end, and its replacement. The library has no
//! setting for it, so such an answer is known by its text: a status that refuses a head, and no fields but
//! its own. Other answers have more fields, and no document or stream of events ends with lines like these.

use super::{guard, head};

const BEGIN: &[u8] = b"HTTP/1.";
const END: &str = "\r\n\r\n";
/// A status line and three short fields.
const MAX_BYTES: usize = 256;

pub struct BareRefusal<'a> {
    /// Where it begins among the bytes.
    pub at: usize,
    status_line: &'a str,
    status: &'a str,
    date: Option<&'a str>,
}

impl<'a> BareRefusal<'a> {
    /// It is the last that a connection sends.
    pub fn at_end_of(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.ends_with(END.as_bytes()) {
            return None;
        }
        let near = bytes.len().saturating_sub(MAX_BYTES);
        let at = near + bytes[near..].windows(BEGIN.len()).rposition(|window| window == BEGIN)?;
        let mut lines = std::str::from_utf8(&bytes[at..]).ok()?.strip_suffix(END)?.split("\r\n");
        let status_line = lines.next()?;
        let status = status_line.split(' ').nth(1)?;
        head::refused_with(status)?;
        let mut date = None;
        for line in lines {
            match line.split_once(": ")? {
                ("date", _) => date = Some(line),
                ("content-length", "0") | ("connection", "close") => {}
                _ => return None,
            }
        }
        Some(BareRefusal { at, status_line, status, date })
    }

    /// The same refusal as a problem document, with the fields that every answer has.
    pub fn with_reason(&self) -> Option<Vec<u8>> {
        let (fields, problem) = guard::refuse_head(head::refused_with(self.status)?);
        let mut answer = format!("{}\r\nconnection: close\r\ncontent-length: {}\r\n", self.status_line, problem.len());
        answer.extend(self.date.map(|date| format!("{date}\r\n")));
        let mut answer = answer.into_bytes();
        for (name, value) in &fields {
            answer.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        answer.extend_from_slice(b"\r\n");
        answer.extend(problem);
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const BARE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\ndate: Mon, 23 Nov 2026 10:00:00 GMT\r\n\r\n";

    #[rstest]
    #[case::alone(BARE.to_owned(), Some(0))]
    #[case::with_its_connection(BARE.replace("date", "connection: close\r\ndate"), Some(0))]
    #[case::after_another_answer(format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{{}}{BARE}"), Some(40))]
    #[case::of_a_long_head(BARE.replace("400 Bad Request", "431 Request Header Fields Too Large"), Some(0))]
    #[case::with_another_field(BARE.replace("date", "x-request-id: 1\r\ndate"), None)]
    #[case::with_a_body(format!("{BARE}{{}}"), None)]
    #[case::of_a_request(BARE.replace("400 Bad Request", "404 Not Found"), None)]
    #[case::that_lets_a_client_go_on("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), None)]
    #[case::no_answer("data: {}\r\n\r\n".to_owned(), None)]
    fn only_a_refusal_of_the_library_is_bare(#[case] bytes: String, #[case] at: Option<usize>) {
        assert_eq!(BareRefusal::at_end_of(bytes.as_bytes()).map(|refusal| refusal.at), at);
    }

    #[test]
    fn it_keeps_its_status_and_date_and_gets_a_reason() {
        let answer = BareRefusal::at_end_of(BARE.as_bytes()).unwrap().with_reason().unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n"), "{answer}");
        assert!(answer.contains("date: Mon, 23 Nov 2026 10:00:00 GMT\r\n"), "{answer}");
        assert!(answer.ends_with('}') && answer.contains("\"status\":400"), "{answer}");
    }
}
