//! A socket of this machine and this user, by which one program asks another of the same kind. Knows no message.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

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

impl LocalListener {
    /// Listens at `path`, which must not exist.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// The next connection.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Connects to a socket.
pub async fn connect_local(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path).await
}
