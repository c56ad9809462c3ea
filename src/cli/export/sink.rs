//! `Sink`: the destination of an export: standard output, or a file that is written whole or not at all. Its errors name it
//! as the caller did.

use std::io::{self, Write};
use std::path::Path;

use super::new_file::{self, NewFile};
use anyhow::Context;

pub struct Sink {
    target: Target,
    /// Beginning of the error of a failed write.
    cannot_write: String,
}

enum Target {
    /// Written in the background: a reader that reads no more must not keep a signal from ending the
    /// command.
    Stdout,
    File(NewFile),
}

impl Sink {
    pub fn stdout() -> Sink {
        Sink { target: Target::Stdout, cannot_write: "cannot write standard output".to_owned() }
    }

    pub fn file(path: &Path) -> anyhow::Result<Sink> {
        let cannot_write = format!("cannot write {}", path.display());
        let target = Target::file(path).context(cannot_write.clone())?;
        Ok(Sink { target, cannot_write })
    }

    pub async fn write(&mut self, bytes: Vec<u8>) -> anyhow::Result<()> {
        self.target.write(bytes).await.context(self.cannot_write.clone())
    }

    /// Makes the file the one that the caller named.
    pub fn finish(self) -> anyhow::Result<()> {
        self.target.finish().context(self.cannot_write)
    }
}

impl Target {
    fn file(path: &Path) -> io::Result<Target> {
        if path.is_dir() {
            return Err(io::Error::other("it is a directory"));
        }
        if !new_file::directory(path).is_dir() {
            return Err(io::Error::other("its directory does not exist"));
        }
        NewFile::create(path).map(Target::File).map_err(without_path)
    }

    async fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        match self {
            Target::Stdout => tokio::task::spawn_blocking(move || print(&bytes)).await.map_err(io::Error::other)?,
            Target::File(file) => file.write_all(&bytes).map_err(without_path),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Target::Stdout => Ok(()),
            Target::File(file) => file.finish(),
        }
    }
}

/// The error without the name of the temporary file, which does not concern the caller.
fn without_path(error: io::Error) -> io::Error {
    error.kind().into()
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
