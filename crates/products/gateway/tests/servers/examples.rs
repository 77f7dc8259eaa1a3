//! The examples of docs/examples/gateway: the file is one that the program accepts, and every other file agrees with it. No
//! container is started.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use document::{Content, Node};

/// A value as the tests look at it.
#[derive(Clone, Debug, Default)]
struct Tree(Option<Node>);

impl Tree {
    fn get(&self, name: &str) -> Self {
        let Some(Content::Map(entries)) = self.0.as_ref().map(|node| &node.content) else { return Self::default() };
        Self(entries.iter().find(|entry| entry.key == name).map(|entry| entry.node.clone()))
    }

    /// A value within others.
    fn at(&self, path: &[&str]) -> Self {
        path.iter().fold(self.clone(), |tree, name| tree.get(name))
    }

    fn keys(&self) -> Vec<String> {
        let Some(Content::Map(entries)) = self.0.as_ref().map(|node| &node.content) else { return Vec::new() };
        entries.iter().map(|entry| entry.key.clone()).collect()
    }

    fn items(&self) -> Vec<Self> {
        let Some(Content::List(items)) = self.0.as_ref().map(|node| &node.content) else { return Vec::new() };
        items.iter().map(|item| Self(Some(item.clone()))).collect()
    }

    /// A text, a number or a truth value, as it is written.
    fn text(&self) -> String {
        match self.0.as_ref().map(|node| &node.content) {
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Number(number)) => number.to_string(),
            Some(Content::Bool(value)) => value.to_string(),
            _ => String::new(),
        }
    }

    fn texts(&self) -> Vec<String> {
        self.items().iter().map(Self::text).collect()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples/gateway")
}

fn text_of(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn read(name: &str) -> Tree {
    let (tree, errors) = document::read(&text_of(name)).unwrap_or_else(|error| panic!("{name}: {}", error.what));
    assert!(errors.is_empty(), "{name}: {:?}", errors.first().map(|error| &error.what));
    Tree(Some(tree))
}

/// The port at the end of an address.
fn port(address: &str) -> &str {
    address.rsplit(':').next().unwrap_or_default()
}

/// The item of this kind and name in the Kubernetes objects.
fn object(kind: &str, name: &str) -> Tree {
    let all = read("kubernetes.yaml").get("items").items();
    let is_it = |one: &&Tree| one.get("kind").text() == kind && one.at(&["metadata", "name"]).text() == name;
    all.iter().find(is_it).unwrap_or_else(|| panic!("no {kind} {name}")).clone()
}

/// Checks a configuration with the program and the arguments that a container gets, where the container's paths are folders
/// of a test.
fn accepts(arguments: &[String], config: &str, secrets: &[String]) {
    let root = tempfile::tempdir().expect("a folder");
    let path = |inside: &str| root.path().join(inside.trim_start_matches('/')).to_string_lossy().into_owned();
    std::fs::create_dir_all(path("/run/secrets")).expect("a folder");
    std::fs::create_dir_all(path("/etc/proof-gateway")).expect("a folder");
    for secret in secrets {
        std::fs::write(path(&format!("/run/secrets/{secret}")), "a secret\n").expect("written");
    }
    let moved = config.replace("/run/secrets/", &path("/run/secrets/"));
    std::fs::write(path("/etc/proof-gateway/gateway.yaml"), moved).expect("written");
    let arguments = arguments.iter().map(|text| if text.starts_with('/') { path(text) } else { text.clone() });
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
    let output = command.args(arguments).arg("--check-config").output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn base(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn compose_starts_three_gateways_that_nginx_leads_to() {
    let (compose, config, nginx) = (read("compose.yaml"), read("gateway.yaml"), text_of("nginx.conf"));
    let listen = config.get("listen").text();
    let names: Vec<_> =
        compose.get("services").keys().into_iter().filter(|name| name.starts_with("gateway-")).collect();
    assert_eq!(names.len(), 3);
    let led: Vec<_> = nginx.lines().filter_map(|line| line.trim().strip_prefix("server ")?.strip_suffix(';')).collect();
    let expected: Vec<_> = names.iter().map(|name| format!("{name}:{}", port(&listen))).collect();
    assert_eq!(led, expected);
    let declared: BTreeSet<_> = compose.get("secrets").keys().into_iter().collect();
    for name in &names {
        let gateway = compose.at(&["services", name]);
        let secrets = gateway.get("secrets").texts();
        assert!(secrets.iter().all(|secret| declared.contains(secret)), "{secrets:?}");
        accepts(&gateway.get("command").texts(), &text_of("gateway.yaml"), &secrets);
        assert!(
            gateway.get("volumes").texts().contains(&"./gateway.yaml:/etc/proof-gateway/gateway.yaml:ro".to_owned())
        );
        assert!(gateway.get("volumes").texts().contains(&"/var/lib/proof-gateway".to_owned()));
    }
    for name in compose.get("services").keys() {
        let service = compose.at(&["services", &name]);
        assert_eq!(service.get("read_only").text(), "true", "{name}");
        let user = service.get("user").text();
        assert!(!user.is_empty() && !user.starts_with('0') && user != "root", "{name}: {user}");
        assert_eq!(service.get("cap_drop").texts(), ["ALL"], "{name}");
        let waits = service.get("depends_on").texts();
        assert!(waits.iter().all(|other| compose.get("services").keys().contains(other)), "{waits:?}");
    }
    let published = compose.at(&["services", "nginx", "ports"]).texts();
    assert!(nginx.contains(&format!("listen {};", port(&published[0]))), "{published:?}");
    // The store's name is that of the service.
    let store = config.at(&["store", "url"]).text();
    let store = store.trim_start_matches("redis://").split(':').next().unwrap_or_default();
    assert!(compose.get("services").keys().iter().any(|name| name == store), "{store}");
}

#[test]
fn kubernetes_probes_the_pages_and_mounts_what_the_file_names() {
    let config = read("gateway.yaml");
    let deployment = object("Deployment", "gateway");
    assert_eq!(deployment.at(&["spec", "replicas"]).text(), "3");
    let pod = deployment.at(&["spec", "template", "spec"]);
    let container = pod.get("containers").items().remove(0);
    let ports: Vec<_> = container.get("ports").items();
    let port_of = |name: &str| {
        let found = ports.iter().find(|one| one.get("name").text() == name);
        found.unwrap_or_else(|| panic!("no port {name}")).get("containerPort").text()
    };
    assert_eq!(port_of("mcp"), port(&config.get("listen").text()));
    assert_eq!(port_of("admin"), port(&config.get("admin").text()));
    for (probe, path) in [("livenessProbe", "/health"), ("readinessProbe", "/ready")] {
        let get = container.at(&[probe, "httpGet"]);
        assert_eq!((get.get("path").text(), port_of(&get.get("port").text())), (path.to_owned(), port_of("admin")));
        let host = get.get("httpHeaders").items().remove(0);
        assert!(config.get("allow_hosts").texts().contains(&host.get("value").text()), "{host:?}");
    }
    let mounts: Vec<_> = container.get("volumeMounts").items().iter().map(|one| one.get("mountPath").text()).collect();
    for path in ["/etc/proof-gateway", "/run/secrets", "/var/lib/proof-gateway", "/tmp"] {
        assert!(mounts.iter().any(|mount| mount == path), "{path}: {mounts:?}");
    }
    let audit = config.at(&["audit", "folder"]).text();
    assert!(mounts.iter().any(|mount| audit.starts_with(mount.as_str())), "{audit}");
    let secrets: Vec<_> = text_of("kustomization.yaml")
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("--from-file="))
        .map(base)
        .collect();
    accepts(&container.get("args").texts(), &text_of("gateway.yaml"), &secrets);
    for (kind, name) in [("Deployment", "gateway"), ("StatefulSet", "redis")] {
        let pod = object(kind, name).at(&["spec", "template", "spec"]);
        assert_eq!(pod.at(&["securityContext", "runAsNonRoot"]).text(), "true");
        for container in pod.get("containers").items() {
            assert_eq!(container.at(&["securityContext", "readOnlyRootFilesystem"]).text(), "true");
        }
        let selected = object("Service", name).at(&["spec", "selector", "app"]).text();
        assert_eq!(selected, object(kind, name).at(&["spec", "template", "metadata", "labels", "app"]).text());
    }
    let service = object("Service", "gateway");
    assert_eq!(service.at(&["spec", "sessionAffinity"]).text(), "ClientIP");
    assert_eq!(service.at(&["spec", "ports"]).items()[0].get("targetPort").text(), "mcp");
    // What is generated has the name that the pod mounts.
    let kustomization = read("kustomization.yaml");
    let generated = kustomization.get("configMapGenerator").items().remove(0);
    let config_map = pod.get("volumes").items().remove(0).at(&["configMap", "name"]).text();
    assert_eq!(generated.get("name").text(), config_map);
    for name in [generated.get("files").texts(), kustomization.get("resources").texts()].concat() {
        assert!(folder().join(&name).is_file(), "{name}");
    }
}
