//! The commands that print completion scripts and manual pages.

use std::io::Write;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::Failure;
use crate::args::{Arguments, CompletionsArguments, ManArguments};
use crate::output::WholeFile;

pub(crate) fn completions(arguments: &CompletionsArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "fencepost", &mut script);
    Ok(out.write_all(&script)?)
}

pub(crate) fn man(arguments: &ManArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(folder) = &arguments.dir else {
        return Ok(Man::new(Arguments::command()).render(out)?);
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::BadInput(format!("cannot make the folder {}: {error}", folder.display()))
    })?;
    let mut root = Arguments::command();
    root.build();
    let pages = std::iter::once(root.clone())
        .chain(root.get_subcommands().filter(|command| command.get_name() != "help").cloned());
    for command in pages {
        let name = command.get_display_name().unwrap_or("fencepost").to_owned();
        let path = folder.join(format!("{name}.1"));
        let mut file = WholeFile::create(&path).map_err(Failure::BadInput)?;
        Man::new(command)
            .render(&mut file)
            .map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", path.display())))?;
        file.commit().map_err(Failure::BadInput)?;
    }
    Ok(())
}
