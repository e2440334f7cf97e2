//! The modules (files) of a crate do not import each other in a cycle. Only a module and the
//! modules inside it may import each other.
//!
//! The test ignores the imports between a module and a module inside it. So it does not report a
//! cycle with such an import. For example, it does not report that `a` imports `a::b`, `a::b`
//! imports `c`, and `c` imports `a`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The names of the modules from the root of the crate to a module. The root has none.
type Module = Vec<String>;

/// The code of each module.
type Sources = BTreeMap<Module, String>;

/// For each module, the other modules that it imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// The items of a module.
#[derive(Default)]
struct Items {
    /// The names of the items that the module declares.
    declared: BTreeSet<String>,
    /// The path of each item that the module exports again, by the name of the item.
    exported: BTreeMap<String, Vec<String>>,
    /// The paths of the modules from which the module exports all items again.
    globs: Vec<Vec<String>>,
}

/// The words that precede the name of an item in its declaration.
const DECLARATIONS: [&str; 9] =
    ["const", "enum", "fn", "macro_rules", "static", "struct", "trait", "type", "union"];

/// The maximum number of re-exports through which a path is followed.
const EXPORTS_MAX: usize = 6;

/// The attribute of items that only tests compile.
const TEST_ONLY: &str = "#[cfg(test)]";

/// The length in bytes of the string or character at the start of the text, with its quotes.
fn quoted_bytes(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}

/// The text of a file without comments, strings, characters, and items that only tests compile.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_character =
            first == '\'' && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\''));
        let bytes = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if first == '"' || is_character {
            quoted_bytes(rest, first)
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[bytes..];
    }
    without_tests(&code)
}

fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(TEST_ONLY) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + TEST_ONLY.len()..];
        let mut depth = 0;
        let end = rest.char_indices().find(|&(_, letter)| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            depth == 0 && matches!(letter, '}' | ';')
        });
        let Some((at, _)) = end else { return kept };
        rest = &rest[at + 1..];
    }
    kept + rest
}

/// The paths in the tree of a `use` declaration: `a::b` and `a::c` for `a::{b, c}`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((above, list)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) else {
        let path = tree.split_once(" as ").map_or(tree, |(path, _)| path);
        return vec![path.to_owned()];
    };
    let mut depth = 0;
    let parts = list.split(|letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(expand).map(|path| format!("{above}{path}")).collect()
}

/// The names in a path, such as `crate`, `a` and `B` in `crate::a::B`.
fn names(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The names of the items that the code of a module declares.
fn declared(code: &str) -> BTreeSet<String> {
    let words = code.split(|letter: char| !is_letter(letter)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let pairs = words.windows(2).filter(|pair| DECLARATIONS.contains(&pair[0]));
    pairs.map(|pair| pair[1].to_owned()).collect()
}

/// The paths that the code of a module names. The first part of each entry says whether the module
/// exports the path again.
fn paths(code: &str) -> Vec<(bool, Vec<String>)> {
    let (mut found, mut body, mut rest) = (Vec::new(), String::new(), code);
    while let Some(at) = rest.find("use ") {
        let (before, declaration) = rest.split_at(at);
        body.push_str(before);
        if before.ends_with(is_letter) {
            rest = &declaration["use ".len()..];
            continue;
        }
        let is_export = before.trim_end().ends_with("pub") || before.trim_end().ends_with(')');
        let end = declaration.find(';').unwrap_or(declaration.len());
        let declared = expand(&declaration["use ".len()..end]);
        found.extend(declared.iter().map(|path| (is_export, names(path))));
        rest = &declaration[end..];
    }
    body.push_str(rest);
    let words = body.split(|letter: char| !is_letter(letter) && letter != ':');
    let is_path = |word: &&str| ["crate::", "self::", "super::"].iter().any(|root| word.starts_with(root));
    found.extend(words.filter(is_path).map(|word| (false, names(word))));
    found
}

/// A path in a module as a path from the root of the crate. `None` if it leads out of the crate.
fn from_root(sources: &Sources, module: &[String], path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let (_, above) = module.split_last()?;
            match rest.first().map(String::as_str) {
                Some("super") => from_root(sources, above, rest),
                _ => Some([above, rest].concat()),
            }
        }
        _ => {
            let path = [module, path].concat();
            sources.contains_key(&path[..=module.len()]).then_some(path)
        }
    }
}

/// The module that declares the item at a path from the root of the crate.
fn module_of(items: &BTreeMap<Module, Items>, path: &[String], exports_left: usize) -> Module {
    let known = (0..=path.len()).rev().find(|&count| items.contains_key(&path[..count])).unwrap_or(0);
    let (module, rest) = path.split_at(known);
    let (Some(own), Some(name), Some(exports_left)) =
        (items.get(module), rest.first(), exports_left.checked_sub(1))
    else {
        return module.to_vec();
    };
    let of = |above: &[String], below: &[String]| module_of(items, &[above, below].concat(), exports_left);
    if let Some(other) = own.exported.get(name) {
        return of(other, &rest[1..]);
    }
    if own.declared.contains(name) {
        return module.to_vec();
    }
    let mut others = own.globs.iter().map(|above| of(above, rest));
    let declares = |other: &Module| items.get(other).is_some_and(|other| other.declared.contains(name));
    others.find(declares).unwrap_or_else(|| module.to_vec())
}

/// The imports of a crate, except those between a module and a module inside it.
fn imports(sources: &Sources) -> Imports {
    let mut named: Vec<(&Module, Vec<String>)> = Vec::new();
    let mut items: BTreeMap<Module, Items> = BTreeMap::new();
    for (module, code) in sources {
        let own = items.entry(module.clone()).or_default();
        own.declared = declared(code);
        for (is_export, path) in paths(code) {
            let Some(path) = from_root(sources, module, &path) else { continue };
            if let (true, Some((name, above))) = (is_export, path.split_last()) {
                if name == "*" {
                    own.globs.push(above.to_vec());
                } else {
                    own.exported.insert(name.clone(), path.clone());
                }
            }
            named.push((module, path));
        }
    }
    let mut imports = Imports::new();
    for (module, path) in named {
        let other = module_of(&items, &path, EXPORTS_MAX);
        if !other.starts_with(module) && !module.starts_with(&other) {
            imports.entry(module.clone()).or_default().insert(other);
        }
    }
    imports
}

/// The modules that a module imports, directly or through other modules.
fn reached<'a>(imports: &'a Imports, from: &'a Module) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for other in imports.get(module).into_iter().flatten() {
            if reached.insert(other) {
                open.push(other);
            }
        }
    }
    reached
}

/// The groups of modules of a crate that import each other, directly or through other modules.
fn cycles(krate: &str, sources: &Sources) -> Vec<String> {
    let imports = imports(sources);
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        imports.keys().map(|module| (module, reached(&imports, module))).collect();
    let mut groups = BTreeSet::new();
    for (module, others) in &reached {
        if !others.contains(module) {
            continue;
        }
        let imports_back = |other: &&&Module| reached.get(*other).is_some_and(|back| back.contains(module));
        let group: Vec<String> = others.iter().filter(imports_back).map(|other| other.join("::")).collect();
        groups.insert(format!("{krate}: {}", group.join(", ")));
    }
    groups.into_iter().collect()
}

/// Reads the modules in a folder of a crate.
fn read(folder: &Path, above: &[String], sources: &mut Sources) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut module = above.to_vec();
        if path.is_dir() {
            module.push(name);
            read(&path, &module, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            if !["lib", "main", "mod"].contains(&name.as_str()) {
                module.push(name);
            }
            let text = fs::read_to_string(&path).expect("a readable file");
            sources.entry(module).or_default().push_str(&code(&text));
        }
    }
}

#[test]
fn no_modules_of_a_crate_import_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut found, mut crates_read) = (Vec::new(), 0);
    for entry in fs::read_dir(crates).expect("there are crates") {
        let entry = entry.expect("a readable folder");
        if !entry.path().join("Cargo.toml").exists() {
            continue;
        }
        let (krate, mut sources) = (entry.file_name().to_string_lossy().into_owned(), Sources::new());
        read(&entry.path().join("src"), &[], &mut sources);
        let root = sources.get(&Module::new());
        assert!(root.is_some_and(|code| !code.is_empty()), "{krate}: the code of its root is missing");
        found.extend(cycles(&krate, &sources));
        crates_read += 1;
    }
    assert!(crates_read > 0, "no crate was read");
    assert_eq!(found, [""; 0]);
}

#[test]
fn modules_that_import_each_other_are_found_through_exports_and_paths() {
    let texts = [
        ("", "mod a; mod b; mod d; mod e; mod g; mod h; pub(crate) use d::D; pub use g::*;"),
        ("a", "use crate::{D, b::{B, c::C as Other}, e::E};"),
        ("b", "mod c; use c::C;"),
        ("b::c", "use super::B;"),
        ("d", "fn f<'a>() { super::a::g::<'a', '\"'>(); }"),
        (
            "e",
            "// use crate::a;\nconst E: &str = \"super::a::g\";\n#[cfg(test)]\nmod tests { use crate::a; }",
        ),
        ("g", "mod i; pub use i::*;"),
        ("g::i", "use crate::h::H; pub struct G;"),
        ("h", "use crate::G; pub struct H;"),
    ];
    let sources: Sources = texts.into_iter().map(|(path, text)| (names(path), code(text))).collect();
    assert_eq!(cycles("made", &sources), ["made: a, d", "made: g::i, h"]);
}
