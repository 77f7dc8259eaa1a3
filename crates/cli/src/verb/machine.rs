//! What a server may quote of this machine, and no test file may hold.

use suite::generate::MachineFacts;

/// The facts of this process. What stands in `command` does not count: the test file names it anyway.
pub(super) fn facts(command: &[String]) -> MachineFacts {
    let text = |name: &str| std::env::var(name).ok();
    let paths = ["HOME", "TMPDIR", "TMP", "TEMP", "PATH"].into_iter().filter_map(text);
    let cwd = std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
    let names = ["USER", "LOGNAME", "USERNAME", "HOSTNAME"].into_iter().filter_map(text).chain(host);
    MachineFacts::new(paths.chain(cwd), names, command)
}
