//! The command `fencepost graph`, which prints the statistics of a graph.

use std::io::Write;

use lab::input::{Content, GraphInput};

use crate::Failure;
use crate::args::{GraphCommand, GraphInfoArguments};
use crate::output::write_json;
use crate::progress::Progress;

pub(crate) fn graph(command: &GraphCommand, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        GraphCommand::Info(arguments) => info(arguments, out),
    }
}

fn info(arguments: &GraphInfoArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let progress = Progress::of_one(&format!("reading {}", arguments.input));
    let input = GraphInput::open(&arguments.input, arguments.scale.as_deref(), Content::Graph)?;
    let description = input.opened.describe();
    drop(progress);
    match arguments.json {
        true => write_json(out, &description),
        false => Ok(write!(out, "{description}")?),
    }
}
