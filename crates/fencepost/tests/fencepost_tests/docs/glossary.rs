//! Pages, help texts, summaries of machines and public names use no synonym that the glossary
//! rules out.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

use super::page::Page;
use super::tree;

const PAGE: &str = "docs/glossary.md";

/// Phrases that may contain a forbidden synonym, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("GPU workgroup progress models", "a title"),
    ("PTX memory consistency model", "a title"),
    ("memory consistency model of NVIDIA", "the title of a chapter"),
    ("multiprocessor computer", "a title"),
];

/// A row of the glossary: its terms, and the synonyms that it forbids.
struct Entry {
    terms: Vec<String>,
    synonyms: Vec<String>,
}

#[test]
fn no_text_or_public_name_uses_a_synonym() {
    let synonyms: Vec<String> = entries().into_iter().flat_map(|entry| entry.synonyms).collect();
    assert!(synonyms.len() > 20, "{} synonyms", synonyms.len());
    let mut unused: BTreeSet<&str> = EXCEPTIONS.iter().map(|(phrase, _)| *phrase).collect();
    let mut complaints = Vec::new();
    for (place, mut text) in texts() {
        for (phrase, _) in EXCEPTIONS {
            if text.contains(phrase) {
                unused.remove(phrase);
                text = text.replace(phrase, "");
            }
        }
        let found = synonyms.iter().filter(|synonym| occurs(synonym, &text));
        complaints.extend(found.map(|synonym| format!("{place}: {synonym}")));
    }
    for (place, name) in public_names() {
        let words = words_of(&name);
        let found = synonyms.iter().filter(|synonym| occurs(&synonym.to_lowercase(), &words));
        complaints.extend(found.map(|synonym| format!("{place}: `{name}`: {synonym}")));
    }
    assert!(complaints.is_empty(), "{PAGE} has another term:\n{}", complaints.join("\n"));
    assert!(unused.is_empty(), "exceptions that nothing needs: {unused:?}");
}

#[test]
fn every_term_is_in_use_and_none_is_a_synonym() {
    let entries = entries();
    let synonyms: BTreeSet<&String> = entries.iter().flat_map(|entry| &entry.synonyms).collect();
    let names = public_names().into_iter().map(|(place, name)| (place, words_of(&name)));
    let texts: Vec<(String, String)> = texts().into_iter().chain(names).collect();
    let mut terms = BTreeSet::new();
    for term in entries.iter().flat_map(|entry| &entry.terms) {
        assert!(terms.insert(term), "{PAGE}: {term} stands twice");
        assert!(!synonyms.contains(term), "{PAGE}: {term} is a term and a synonym");
        assert!(texts.iter().any(|(_, text)| occurs(term, text)), "{PAGE}: nothing uses {term}");
    }
}

#[test]
fn a_planted_synonym_is_found() {
    for text in ["a warp waits", "Warps wait.", "two\nwarps", "thread\n  blocks"] {
        assert!(occurs("warp", text) || occurs("thread block", text), "{text}");
    }
    assert!(occurs("thread block", &words_of("ThreadBlock")) && occurs("warp", &words_of("warps_per_cu")));
    assert!(!occurs("warp", "warped time-warp") && !occurs("workgroup", "a WorkGroup, a work-group"));
    let file =
        "pub fn warp_size() {}\n    pub(crate) fn hidden() {}\npub const WARPS: u8 = 1;\n    pub warp: u8,\n";
    assert_eq!(names_in(file), ["warp_size", "WARPS", "warp"]);
    let file = "    pub enum Op = Base {\n        /// A load.\n        #[cold]\n        Warp,\n        Snoop {\n            \
                Line: u8,\n        } [name(\"SnoopL1\")],\n    }\n    Purge,\npub enum None {}\n    Purge,\n";
    assert_eq!(names_in(file), ["Op", "Warp", "Snoop", "None"]);
    assert_eq!(prose("a `warp` in code, a lane"), "a   in code, a lane");
}

/// The rows of the glossary's tables. A row has the form `| **term** | meaning | synonyms |`.
fn entries() -> Vec<Entry> {
    let page = fs::read_to_string(tree::root().join(PAGE)).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| **"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [terms, meaning, synonyms] = cells[..] else { panic!("{PAGE}: three cells, not: {row}") };
        assert!(meaning.ends_with('.'), "{PAGE}: a sentence is missing: {row}");
        let list = |cell: &str| {
            let words = cell.split(',').map(|word| word.trim().trim_matches('*').to_owned());
            words.filter(|word| !word.is_empty()).collect()
        };
        Entry { terms: list(terms), synonyms: list(synonyms) }
    })
    .collect()
}

/// All pages, help texts and summaries of machines, each with its place.
fn texts() -> Vec<(String, String)> {
    pages().into_iter().chain(help_texts()).chain(summaries()).collect()
}

fn pages() -> Vec<(String, String)> {
    let pages = Page::all().into_iter().filter(|page| page.name != PAGE);
    pages.map(|page| (page.name, prose(&page.prose))).collect()
}

/// The summaries of the machines, each with the machine file that contains it.
fn summaries() -> Vec<(String, String)> {
    let root = tree::root();
    let files = tree::files(&root).into_iter().map(|file| file.display().to_string());
    let machines = files.filter(|file| file.starts_with("systems/") && file.ends_with(".toml"));
    let summaries: Vec<(String, String)> = machines
        .map(|file| {
            let text = fs::read_to_string(root.join(&file)).unwrap();
            let summary = text.lines().find_map(|line| line.strip_prefix("summary = ")).unwrap();
            (file, summary.to_owned())
        })
        .collect();
    assert!(summaries.len() > 5, "{} summaries", summaries.len());
    summaries
}

/// A text without the parts in backticks.
fn prose(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The help text of every command, each with the command line that prints it.
fn help_texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let mut waiting = vec![vec![String::from("fencepost")]];
    while let Some(command) = waiting.pop() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let words = command.iter().map(String::as_str).chain(["--help"]).map(OsString::from);
        assert_eq!(fencepost::run(words, &mut out, &mut err), 0, "{command:?}");
        let help = String::from_utf8(out).unwrap();
        let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let commands =
            commands.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
        waiting.extend(
            commands.filter(|name| *name != "help").map(|name| [&command[..], &[name.to_owned()]].concat()),
        );
        texts.push((format!("{} --help", command.join(" ")), help));
    }
    assert!(texts.len() > 10, "{} help texts", texts.len());
    texts
}

/// The names of all public items, fields and variants, each with the file that declares it.
fn public_names() -> Vec<(String, String)> {
    let root = tree::root();
    let files = tree::files(&root).into_iter().map(|file| file.display().to_string());
    let sources =
        files.filter(|file| file.starts_with("crates/") && file.contains("/src/") && file.ends_with(".rs"));
    let names: Vec<(String, String)> = sources
        .flat_map(|file| {
            let text = fs::read_to_string(root.join(&file)).unwrap();
            names_in(&text).into_iter().map(move |name| (file.clone(), name))
        })
        .collect();
    assert!(names.len() > 1000, "{} names", names.len());
    names
}

/// The names of public items, fields and variants in the text of a source file. Items and fields
/// come after the keyword `pub`. The variants of a public enumeration, also inside `symbols!` and
/// `messages!`, are indented by four more blanks than its first line.
fn names_in(source: &str) -> Vec<String> {
    const KEYWORDS: [&str; 12] = [
        "async", "const", "enum", "fn", "macro", "mod", "mut", "static", "struct", "trait", "type", "unsafe",
    ];
    let mut enumeration = None;
    let items = source.lines().filter_map(|line| {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.starts_with("pub enum ") {
            enumeration = Some(indent).filter(|_| !text.ends_with([';', '}']));
        } else if enumeration == Some(indent) && text.starts_with('}') {
            enumeration = None;
        }
        let is_variant =
            enumeration.is_some_and(|outer| indent == outer + 4) && text.starts_with(char::is_uppercase);
        text.strip_prefix("pub ").or(is_variant.then_some(text))
    });
    let names = items.filter_map(|item| {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let mut words = item.split(|c| !is_letter(c)).filter(|word| !word.is_empty());
        words.find(|word| !KEYWORDS.contains(word))
    });
    names.filter(|name| *name != "use").map(str::to_owned).collect()
}

/// The words of a name in lower case, separated by blanks: `ThreadBlock`, `thread_block` and
/// `THREAD_BLOCK` all become "thread block".
fn words_of(name: &str) -> String {
    let mut words = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && was_lower) {
            words.push(' ');
        }
        was_lower = c.is_lowercase() || c.is_numeric();
        words.extend(c.to_lowercase().filter(|c| *c != '_'));
    }
    words
}

/// Returns true if a text contains these words, in the singular or plural, with a small or
/// capital first letter. `WorkGroup`, a name in code, is not "workgroup".
fn occurs(words: &str, text: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (first, rest) = words.split_at(1);
    [first.to_owned(), first.to_uppercase()].iter().any(|first| {
        let words = format!("{first}{rest}");
        let is_letter = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        text.match_indices(&words).any(|(at, _)| {
            let (before, behind) = (&text[..at], &text[at + words.len()..]);
            let behind = behind.strip_prefix("es").or(behind.strip_prefix('s')).unwrap_or(behind);
            !before.ends_with(is_letter) && !behind.starts_with(is_letter)
        })
    })
}
