//! `free_bytes`: the room on the disk of a directory. It asks the system, which a network disk may keep waiting.

use std::io;
use std::path::Path;

/// Bytes that this user may still write below `dir`, or below its nearest ancestor that exists.
pub fn free_bytes(dir: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(nearest(dir))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// `dir`, or its nearest ancestor that exists; a symbolic link whose target is missing exists.
pub fn nearest(dir: &Path) -> &Path {
    dir.ancestors().find(|dir| dir.symlink_metadata().is_ok()).unwrap_or(Path::new("."))
}
