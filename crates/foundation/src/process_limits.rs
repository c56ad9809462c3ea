//! The limits that the system sets this process: descriptors, local ports, memory of the kernel. In: an error
//! of a system call. Out: whether one of them is its cause, so that no one else is blamed for it.

use std::io;

use nix::errno::Errno;

/// Remedy that messages name.
pub const REMEDY: &str = "raise its limit of open files (ulimit -n, LimitNOFILE), or run fewer workers in it";

pub fn are_reached(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM | Errno::EADDRNOTAVAIL))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::too_many_files(Errno::EMFILE, true)]
    #[case::no_local_port(Errno::EADDRNOTAVAIL, true)]
    #[case::refused(Errno::ECONNREFUSED, false)]
    #[case::no_such_file(Errno::ENOENT, false)]
    fn only_what_this_process_has_used_up_is_its_own(#[case] errno: Errno, #[case] own: bool) {
        assert_eq!(are_reached(&errno.into()), own);
    }
}
