//! A socket of this machine and this user, by which one program asks another of the same kind. Knows no message.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// A connection between two programs of one user.
pub type LocalStream = UnixStream;

/// A listening socket. Dropped, its file is removed.
#[derive(Debug)]
pub struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
}

/// The folder of a program's sockets, made where it is missing: only this user may look into it.
pub fn socket_folder(program: &str) -> io::Result<PathBuf> {
    let own = rustix::process::getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let folder = match runtime {
        Some(runtime) => runtime.join(program),
        None => std::env::temp_dir().join(format!("{program}-{own}")),
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Where everybody may write, somebody else may have made it.
    let found = fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != own || found.permissions().mode() & 0o077 != 0 {
        let what = format!("{} belongs to another user, or others may open it", folder.display());
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    Ok(folder)
}

/// The sockets of all running programs of this name and this user, by process; some may be of processes that were killed.
pub fn local_sockets(program: &str) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(socket_folder(program)?)?.flatten() {
        let path = entry.path();
        let process = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let Some(process) = process.filter(|_| path.extension().is_some_and(|extension| extension == "sock")) {
            found.push((process, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

impl LocalListener {
    /// Listens at `path`, which must not exist.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// The next connection.
    pub async fn accept(&self) -> io::Result<LocalStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Connects to a socket.
pub async fn connect_local(path: &Path) -> io::Result<LocalStream> {
    UnixStream::connect(path).await
}
