//! A page in Markdown: its fenced blocks, and the command lines in its prose.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree;

/// A block of a page between two lines of backticks.
pub(crate) struct Fence {
    /// The word after the opening backticks, such as `sh`.
    pub(crate) language: String,
    /// The lines of the block, with their line ends.
    pub(crate) text: String,
    /// The number of the block's first line in the page.
    pub(crate) line: usize,
    /// The last path that the text between the previous block and this one names. `None` if that
    /// text names no path.
    pub(crate) file: Option<String>,
    /// The number of headings of the page before this block.
    section: usize,
}

/// A command line of a page, with the number of its line in the page.
pub(crate) struct Command {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Command lines whose output the page shows together, and the index of the block with this output.
/// The index is `None` if the page does not show the output.
pub(crate) struct CommandGroup {
    pub(crate) commands: Vec<Command>,
    pub(crate) output: Option<usize>,
}

pub(crate) struct Page {
    /// The path of the page, relative to the root of the repository.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) fences: Vec<Fence>,
    /// The text of the page outside of its blocks.
    pub(crate) prose: String,
}

impl Page {
    /// Every Markdown page of the repository, except `CHANGELOG.md`.
    pub(crate) fn all() -> Vec<Page> {
        let files = tree::files(&tree::root());
        let mut names: Vec<&str> = files
            .iter()
            .filter_map(|path| path.to_str())
            .filter(|name| name.ends_with(".md") && *name != "CHANGELOG.md")
            .collect();
        names.sort_unstable();
        let pages: Vec<Page> = names.into_iter().map(Page::read).collect();
        assert!(pages.iter().any(|page| page.name == "README.md"));
        pages
    }

    pub(crate) fn read(name: &str) -> Page {
        let path = tree::root().join(name);
        let text = fs::read_to_string(&path).unwrap();
        let (mut fences, mut prose, mut since) = (Vec::new(), String::new(), String::new());
        let (mut open, mut section) = (None::<Fence>, 0);
        for (number, line) in (1..).zip(text.lines()) {
            match (&mut open, line.strip_prefix("```")) {
                (None, Some(language)) => {
                    let (language, file) = (language.to_owned(), last_path(&since));
                    let text = String::new();
                    open = Some(Fence { language, text, line: number + 1, file, section });
                    since.clear();
                    prose.push('\n');
                }
                (None, None) => {
                    section += usize::from(line.starts_with('#'));
                    for text in [&mut prose, &mut since] {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
                (Some(_), Some(_)) => {
                    fences.extend(open.take());
                    prose.push('\n');
                }
                (Some(fence), None) => {
                    fence.text.push_str(line);
                    fence.text.push('\n');
                    prose.push('\n');
                }
            }
        }
        assert!(open.is_none(), "{name}: a fence is not closed");
        Page { name: name.to_owned(), path, fences, prose }
    }

    /// All groups of command lines of the page, in the order of the page.
    pub(crate) fn command_groups(&self) -> Vec<CommandGroup> {
        let mut command_groups = Vec::new();
        for (at, fence) in self.fences.iter().enumerate() {
            if fence.language != "sh" {
                for line in fence.text.lines() {
                    let is_command = ["fencepost ", "cargo ", "$ "].iter().any(|word| line.starts_with(word));
                    assert!(!is_command, "{}: a command line outside of ```sh: {line}", self.name);
                }
                continue;
            }
            let follows = |next: &Fence| next.language == "text" && next.section == fence.section;
            let output = self.fences.get(at + 1).is_some_and(follows).then_some(at + 1);
            let lines = (fence.line..).zip(fence.text.lines());
            let lines = lines.map(|(line, text)| (line, text.split(" #").next().unwrap_or("").trim()));
            let commands = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
            let commands = commands.map(|(line, text)| Command { line, text: text.to_owned() }).collect();
            command_groups.push((fence.line, CommandGroup { commands, output }));
        }
        let inline = self.inline().into_iter();
        command_groups.extend(
            inline.map(|command| (command.line, CommandGroup { commands: vec![command], output: None })),
        );
        command_groups.sort_by_key(|(line, _)| *line);
        command_groups.into_iter().map(|(_, group)| group).collect()
    }

    /// The command lines in the text outside of blocks: the parts in backticks that begin like a
    /// command line.
    fn inline(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        let mut line = 1;
        for paragraph in self.prose.split("\n\n") {
            let mut number = line;
            for (at, span) in paragraph.split('`').enumerate() {
                let text = span.split_whitespace().collect::<Vec<_>>().join(" ");
                let mut words = text.split(' ').skip_while(|word| word.contains('='));
                if at % 2 == 1 && matches!(words.next(), Some("fencepost" | "cargo")) {
                    commands.push(Command { line: number, text });
                }
                number += span.matches('\n').count();
            }
            line += paragraph.matches('\n').count() + 2;
        }
        commands.retain(|command| command.text.contains(' '));
        commands
    }

    /// Replaces the text of a block in the file of the page.
    pub(crate) fn replace(&self, fence: usize, text: &str) {
        let old = fs::read_to_string(&self.path).unwrap();
        let fence = &self.fences[fence];
        let behind = |line: usize| old.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
        let begin = behind(fence.line - 1);
        let end = begin + fence.text.len();
        assert_eq!(&old[begin..end], fence.text, "{} changed while it was read", self.name);
        fs::write(&self.path, format!("{}{text}{}", &old[..begin], &old[end..])).unwrap();
    }
}

/// The last file path in backticks in a text.
fn last_path(text: &str) -> Option<String> {
    let spans = text.split('`').skip(1).step_by(2);
    let is_path = |span: &&str| span.contains('/') && Path::new(span).extension().is_some();
    spans.filter(is_path).filter(|span| !span.contains(' ')).last().map(str::to_owned)
}
