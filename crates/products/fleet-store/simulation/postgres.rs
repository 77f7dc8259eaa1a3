//! A real Postgres in a folder, as another user where this one is root, since Postgres refuses to run as root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Failed;

const INSTALL: &str = "Postgres is not installed – apt-get install --yes --no-install-recommends postgresql";
/// The user that Debian's package makes.
const USER: &str = "postgres";
const PASSWORD: &str = "a-password-of-the-simulation";
const PATIENCE: Duration = Duration::from_mins(1);

/// A database server. It is killed when it is dropped.
pub(crate) struct Postgres {
    programs: PathBuf,
    data: PathBuf,
    port: u16,
    as_user: bool,
    child: Option<Child>,
}

impl Postgres {
    /// Makes a database below `folder` and starts its server.
    pub(crate) fn start(folder: &str) -> Result<Self, Failed> {
        let folder = Path::new(folder);
        fs::create_dir_all(folder)?;
        let uid = Command::new("id").arg("-u").output()?.stdout;
        let as_user = uid.trim_ascii() == b"0";
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut postgres = Self { programs: programs()?, data: folder.join("data"), port, as_user, child: None };
        let password = folder.join("password");
        fs::write(&password, PASSWORD)?;
        if as_user {
            succeed(Command::new("chown").args(["-R", USER]).arg(folder))?;
        }
        let mut init = postgres.command("initdb");
        init.args(["--username=fleet", "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale"]);
        succeed(init.arg("--pwfile").arg(&password).arg("-D").arg(&postgres.data))?;
        postgres.run()?;
        Ok(postgres)
    }

    /// The address of its database.
    pub(crate) fn address(&self) -> String {
        format!("postgres://fleet:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    /// Kills every process of the server, and starts it again.
    pub(crate) fn kill_and_start(&mut self) -> Result<(), Failed> {
        self.kill()?;
        self.run()
    }

    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        if !self.as_user {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"]).arg(program);
        command
    }

    fn run(&mut self) -> Result<(), Failed> {
        let mut command = self.command("postgres");
        command.arg("-D").arg(&self.data).args(["-p", &self.port.to_string(), "-k", ""]);
        command.args(["-c", "listen_addresses=127.0.0.1"]).stdin(Stdio::null());
        let log = fs::OpenOptions::new().create(true).append(true).open(self.data.with_extension("log"))?;
        self.child = Some(command.stdout(log.try_clone()?).stderr(log).spawn()?);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut ready = self.command("pg_isready");
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            if ready.status()?.success() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(
                    format!("Postgres does not start – look at {}", self.data.with_extension("log").display()).into()
                );
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// `setpriv` becomes the program: the child is the server itself.
    fn kill(&mut self) -> Result<(), Failed> {
        let Some(mut server) = self.child.take() else { return Ok(()) };
        let children = Command::new("pgrep").args(["-P", &server.id().to_string()]).output()?.stdout;
        server.kill()?;
        server.wait()?;
        let children = String::from_utf8_lossy(&children).into_owned();
        let children: Vec<_> = children.split_whitespace().collect();
        if !children.is_empty() {
            // Those that ended with their server are no error.
            let _ = Command::new("kill").arg("-9").args(&children).stderr(Stdio::null()).status()?;
        }
        let deadline = Instant::now() + PATIENCE;
        while children.iter().any(|pid| Path::new("/proc").join(pid).join("exe").exists()) {
            if Instant::now() > deadline {
                return Err("a process of Postgres survives SIGKILL".into());
            }
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Where Debian's newest version is, or any on the path.
fn programs() -> Result<PathBuf, Failed> {
    let mut found: Vec<_> = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().collect();
    found.sort_by_key(|version| version.file_name().to_string_lossy().parse::<u32>().unwrap_or_default());
    let debian = found.into_iter().rev().map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = debian.chain(std::env::split_paths(&path));
    all.find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists()).ok_or_else(|| INSTALL.into())
}

fn succeed(command: &mut Command) -> Result<(), Failed> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
}
