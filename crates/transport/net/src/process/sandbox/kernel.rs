//! A sandbox as rules of Landlock.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::{Gap, Ports, Sandbox, program};
use crate::process::Command;

/// What programs need to start, to find names of hosts and certificates, and to know the machine. `/etc/passwd` and all that has secrets is
/// not here, and neither is `/proc`, which shows the arguments of every process.
const SYSTEM: [&str; 36] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
    "/proc/sys/kernel/random",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
];
/// Devices that hold nothing.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The version whose rights for files a sandbox needs, and the one whose rights it uses where there are any.
const FILES: (ABI, ABI) = (ABI::V3, ABI::V5);

/// Restricts this thread, and all that it starts from now on.
pub(super) fn restrict(sandbox: &Sandbox, command: &Command) -> io::Result<()> {
    let rules = ruleset(sandbox).map_err(io::Error::other)?;
    let rules = add_files(rules, sandbox, command)?;
    let rules = add_ports(rules, sandbox).map_err(io::Error::other)?;
    // It also sets `no_new_privs`: a program with the setuid bit would have the rights of another user.
    rules.restrict_self().map_err(io::Error::other)?;
    Ok(())
}

/// Whether this system can restrict something.
pub(super) fn can_restrict(gap: Gap) -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let rules = match gap {
        Gap::Files => rules.handle_access(AccessFs::from_all(FILES.0)),
        Gap::Tcp => rules.handle_access(AccessNet::from_all(ABI::V4)),
        Gap::Signals => rules.scope(Scope::from_all(ABI::V6)),
    };
    rules.and_then(Ruleset::create).is_ok()
}

fn ruleset(sandbox: &Sandbox) -> Result<RulesetCreated, RulesetError> {
    let needed = if sandbox.is_required { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let rules = Ruleset::default().set_compatibility(needed).handle_access(AccessFs::from_all(FILES.0))?;
    let rules = rules.handle_access(AccessNet::BindTcp)?;
    let rules = match sandbox.connect {
        Ports::Any => rules,
        Ports::Only(_) => rules.handle_access(AccessNet::ConnectTcp)?,
    };
    let rules = rules.set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(FILES.1))?;
    rules.scope(Scope::from_all(ABI::V6))?.create()
}

fn add_files(mut rules: RulesetCreated, sandbox: &Sandbox, command: &Command) -> io::Result<RulesetCreated> {
    let read = AccessFs::from_read(FILES.1);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let system = SYSTEM.iter().map(|path| (*path, read)).chain(DEVICES.iter().map(|path| (*path, device)));
    for (path, access) in system {
        // Not every system has all of them.
        if let Ok(file) = PathFd::new(path) {
            rules = add_file(rules, (Path::new(path), file), access)?;
        }
    }
    let program = program(command);
    let readable = sandbox.readable.iter().chain(&command.cwd).map(|path| (path.as_path(), read));
    let writable = sandbox.writable.iter().map(|path| (path.as_path(), AccessFs::from_all(FILES.1)));
    for (path, access) in readable.chain(writable) {
        let file = PathFd::new(path).map_err(|error| {
            io::Error::other(format!("the path {} of its sandbox cannot be used: {error}", path.display()))
        })?;
        rules = add_file(rules, (path, file), access)?;
    }
    // What is missing is reported by the start.
    match program.as_deref().map(|path| (path, PathFd::new(path))) {
        Some((path, Ok(file))) => add_file(rules, (path, file), read),
        _ => Ok(rules),
    }
}

fn add_file(
    rules: RulesetCreated,
    (path, file): (&Path, PathFd),
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(FILES.1) };
    rules.add_rule(PathBeneath::new(file, access)).map_err(io::Error::other)
}

fn add_ports(mut rules: RulesetCreated, sandbox: &Sandbox) -> Result<RulesetCreated, RulesetError> {
    for port in &sandbox.listen {
        rules = rules.add_rule(NetPort::new(*port, AccessNet::BindTcp))?;
    }
    if let Ports::Only(ports) = &sandbox.connect {
        for port in ports {
            rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
    }
    Ok(rules)
}
