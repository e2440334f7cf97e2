//! Writes and builds the rewritten tree: a copy of the crates that trials of mutants need, with all
//! mutants and with the switch that selects one of them at run time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::schema::{Schema, files, read};

/// The crates that are copied into the rewritten tree. A further crate, `trial`, is added to the
/// tree.
const CRATES: [&str; 5] = ["proto", "zoo", "drive", "litmus", "explore"];
/// The manifest of the crate `trial`, which carries out trials of mutants. This crate exists only
/// in the rewritten tree.
const TRIAL_MANIFEST: &str = "[package]\nname = \"trial\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
     [dependencies]\nexplore.workspace = true\nproto.workspace = true\nzoo.workspace = true\n";
const TRIAL_MAIN: &str = "mod explored;\nmod switch {\n    pub use proto::guard::*;\n}\nmod trial;\n\n\
     fn main() {\n    let arguments = std::env::args().skip(1).collect();\n    \
     std::process::exit(trial::main(arguments, explored::explored));\n}\n";
/// Rust code that is added to the rewritten tree. It implements the trait `KeyPart` for the types
/// that occur in keys of the protocols. The trait gives a substitute for a part of a key. The
/// substitute of a `NodeId` has the index 0, but keeps the kind of the node.
const KEY_PARTS: &str = "
impl KeyPart for crate::NodeId {
    fn any(self) -> Self {
        crate::NodeId { index: 0, ..self }
    }
}
macro_rules! key_parts {
    ($($part:ident),+) => {
        $(impl KeyPart for crate::$part {
            fn any(self) -> Self {
                crate::$part(0)
            }
        })+
    };
}
key_parts! { LineAddr, SetIndex, Slot, Way }
";
/// The maximum number of compilations of the rewritten tree. After each failed compilation, mutants
/// that do not type-check are dropped.
const ROUNDS_MAX: usize = 40;

/// The folders of a run.
#[derive(Debug)]
pub struct Places<'a> {
    /// The folder of the workspace.
    pub root: &'a Path,
    /// The folder of the rewritten tree and of the results.
    pub folder: &'a Path,
    /// The folder of the compiled rewritten tree.
    pub build: &'a Path,
}

/// The rewritten tree (a copy of the crates with mutants) on disk.
#[derive(Debug)]
pub struct Tree {
    folder: PathBuf,
    build: PathBuf,
    /// The numbers of the mutants that are not seeded, because the run does not need them.
    left_out: BTreeSet<u32>,
    /// The numbers of the mutants that are left out, because they do not type-check.
    pub dropped: BTreeSet<u32>,
    /// The path of the program that carries out trials of mutants.
    pub trial: PathBuf,
}

/// Writes a file, unless the file already has this content. An unchanged file is not compiled
/// again.
fn write(path: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies all files with this extension from the folder `from` and its subfolders to the folder
/// `to`.
fn copy(from: &Path, to: &Path, extension: &str) -> Result<(), String> {
    for path in files(from, extension)? {
        let below = path.strip_prefix(from).unwrap_or(&path);
        write(&to.join(below), &read(&path)?)?;
    }
    Ok(())
}

/// Returns the text of a Cargo manifest without its development dependencies and without its lint
/// tables.
fn without_tests(manifest: &str) -> String {
    let mut text = String::new();
    let mut is_kept = true;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_kept = line != "[dev-dependencies]" && !line.starts_with("[lints");
        }
        if is_kept {
            text += line;
            text.push('\n');
        }
    }
    text
}

/// Returns the text of the manifest of the workspace without its default members, because not all
/// of them are in the rewritten tree.
fn without_default_members(manifest: &str) -> Result<String, String> {
    let mut table: toml::Table = toml::from_str(manifest).map_err(|error| format!("Cargo.toml: {error}"))?;
    if let Some(toml::Value::Table(workspace)) = table.get_mut("workspace") {
        workspace.remove("default-members");
    }
    toml::to_string(&table).map_err(|error| format!("Cargo.toml: {error}"))
}

/// A function that gives the name of a type.
type NameOfType = fn() -> &'static str;

/// Protocols that only tests use: they are not in the list of protocols of `zoo`. They reach code
/// that the other protocols reach only on larger machines. Each has a function that gives the name
/// of its type.
const OF_TESTS: [(&str, NameOfType); 3] = [
    ("stc-lacks-room", core::any::type_name::<zoo::stc::lacking::room::Room>),
    ("rcc-repaired-short", core::any::type_name::<zoo::lease::short::repaired::RccRepaired>),
    ("rcc-repaired-long", core::any::type_name::<zoo::lease::long::repaired::RccRepaired>),
];

/// The name of the type of a protocol. `None` if no protocol has this name.
pub(crate) fn type_of(protocol: &str) -> Option<&'static str> {
    struct TypeName;
    impl zoo::Visit for TypeName {
        type Output = &'static str;
        fn visit<P: proto::Protocol>(self) -> &'static str {
            core::any::type_name::<P>()
        }
    }
    let of_test = OF_TESTS.iter().find(|(name, _)| *name == protocol);
    of_test.map(|(_, name)| name()).or_else(|| zoo::with(protocol, TypeName))
}

/// The Rust code of a function that looks up the protocols with these names. The code names no
/// other protocol, because the explorer and the tester are compiled for each protocol that it names.
fn explored(protocols: &[&str]) -> Result<String, String> {
    let mut types = String::new();
    for name in protocols {
        let of = type_of(name).ok_or_else(|| format!("there is no protocol '{name}'"))?;
        types += &format!("explore::Subject::of::<{of}>, ");
    }
    Ok(format!(
        "pub fn explored(name: &str) -> Option<explore::Subject> {{\n    \
         let all: [fn() -> explore::Subject; {}] = [{types}];\n    \
         all.into_iter().map(|of| of()).find(|subject| subject.info.name == name)\n}}\n",
        protocols.len()
    ))
}

impl Tree {
    /// Writes the tree, and builds it in release mode for these protocols. The mutants in `left_out`
    /// are not seeded. Mutants that do not type-check are dropped.
    ///
    /// # Errors
    /// If a file cannot be written, or the tree does not compile even without the mutants that do
    /// not type-check.
    pub fn build(
        &Places { root, folder, build }: &Places<'_>,
        schema: &Schema,
        left_out: BTreeSet<u32>,
        protocols: &[&str],
        say: &dyn Fn(&str),
    ) -> Result<Tree, String> {
        let tree = folder.join("tree");
        for name in CRATES {
            let (from, to) = (root.join("crates").join(name), tree.join("crates").join(name));
            write(&to.join("Cargo.toml"), &without_tests(&read(&from.join("Cargo.toml"))?))?;
            let is_rewritten = |path: &Path| {
                let below = path.strip_prefix(root.join("crates")).unwrap_or(path).to_string_lossy();
                schema.sources.iter().any(|source| source.file == below.replace('\\', "/"))
            };
            for extension in ["rs", "txt"] {
                for path in files(&from.join("src"), extension)? {
                    if !is_rewritten(&path) {
                        write(&to.join(path.strip_prefix(&from).unwrap_or(&path)), &read(&path)?)?;
                    }
                }
            }
        }
        for extension in ["cat", "def"] {
            copy(&root.join("crates/litmus/models"), &tree.join("crates/litmus/models"), extension)?;
        }
        copy(&root.join("litmus"), &tree.join("litmus"), "litmus")?;
        let trial = root.join("crates/guards/src/trial");
        copy(&trial, &tree.join("crates/trial/src/trial"), "rs")?;
        write(&tree.join("crates/trial/src/explored.rs"), &explored(protocols)?)?;
        write(&tree.join("crates/trial/Cargo.toml"), TRIAL_MANIFEST)?;
        write(&tree.join("crates/trial/src/main.rs"), TRIAL_MAIN)?;
        write(&tree.join("Cargo.toml"), &without_default_members(&read(&root.join("Cargo.toml"))?)?)?;
        if !tree.join("Cargo.lock").exists() {
            write(&tree.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
        }
        // The root file of the crate `proto` in the tree declares the module of the switch.
        let guard = format!("#![allow(missing_docs, dead_code)]\n{}{KEY_PARTS}", include_str!("switch.rs"));
        write(&tree.join("crates/proto/src/guard.rs"), &guard)?;
        let (folder, build) = (folder.to_owned(), build.to_owned());
        let trial = build.join("release/trial");
        let mut all = Tree { folder, build, left_out, dropped: BTreeSet::new(), trial };
        all.dropped = all.known(schema);
        all.compile(&tree, schema, say)?;
        Ok(all)
    }

    fn known_at(&self, schema: &Schema) -> PathBuf {
        self.folder.join(format!("dropped-{}.json", schema.digest))
    }

    /// The numbers of the mutants that an earlier build of the same sources has dropped.
    fn known(&self, schema: &Schema) -> BTreeSet<u32> {
        let text = std::fs::read_to_string(self.known_at(schema)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn compile(&mut self, tree: &Path, schema: &Schema, say: &dyn Fn(&str)) -> Result<(), String> {
        for _ in 0..ROUNDS_MAX {
            let unseeded = &self.dropped | &self.left_out;
            for (file, mut text) in schema.rewritten(&unseeded) {
                if file == "proto/src/lib.rs" {
                    text += "pub mod guard;\n";
                }
                write(&tree.join("crates").join(file), &text)?;
            }
            // Most of a few mutants type-check, so a check before the build would cost more time than
            // it saves.
            let mut errors = Vec::new();
            if self.left_out.is_empty() {
                errors = self.cargo(tree, "check")?;
            }
            if errors.is_empty() {
                say("building the rewritten tree");
                errors = self.cargo(tree, "build")?;
            }
            if errors.is_empty() {
                let text = serde_json::to_string(&self.dropped).map_err(|error| error.to_string())?;
                write(&self.known_at(schema), &text)?;
                return Ok(());
            }
            let before = self.dropped.len();
            for (file, place, _) in &errors {
                let numbers = schema.at(file, *place, &unseeded);
                self.dropped.extend(numbers);
            }
            say(&format!("dropping {} mutants that do not type-check", self.dropped.len() - before));
            if self.dropped.len() == before {
                let (file, place, message) = &errors[0];
                return Err(format!("{}/{file}:{}:{}: {message}", tree.display(), place.0, place.1));
            }
        }
        Err(format!("the rewritten tree does not compile after {ROUNDS_MAX} attempts"))
    }

    /// Runs the `cargo` command `command` in the rewritten tree. Returns the compiler's errors in
    /// rewritten source files. Empty if there is no error.
    fn cargo(&self, tree: &Path, command: &str) -> Result<Vec<CompileError>, String> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args([command, "--release", "--package", "trial", "--message-format", "json", "--keep-going"])
            .current_dir(tree)
            .env("CARGO_TARGET_DIR", &self.build)
            .env("RUSTFLAGS", "--cap-lints=allow")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            // A higher level would lengthen the build by more time than it saves in the trials.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", if self.left_out.is_empty() { "2" } else { "1" })
            .env("CARGO_INCREMENTAL", "0")
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| format!("cargo cannot be started: {error}"))?;
        let mut errors = Vec::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
            let message = &value["message"];
            if message["level"] != "error" {
                continue;
            }
            let text = message["message"].as_str().unwrap_or_default();
            let primary =
                message["spans"].as_array().into_iter().flatten().find(|span| span["is_primary"] == true);
            let Some(span) = primary else { continue };
            let number = |name: &str| span[name].as_u64().unwrap_or(1) as usize;
            let file = span["file_name"].as_str().unwrap_or_default();
            let file = file.rsplit_once("crates/").map_or(file, |(_, below)| below);
            errors.push((file.to_owned(), (number("line_start"), number("column_start")), text.to_owned()));
        }
        if errors.is_empty() && !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(errors)
    }
}

/// A compiler error: the path of a file relative to `crates/`, a line and a column in this file,
/// and the message.
type CompileError = (String, (usize, usize), String);
