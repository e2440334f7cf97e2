//! Checks one test under one model: `check FILE MODEL [UNROLL]`. `MODEL` is the name of a model of
//! the tool or the path of a `.cat` file. `UNROLL` is the maximum number of times that a thread
//! takes the same backward jump (default 2).
#![allow(clippy::print_stdout, reason = "it is a program")]

use litmus::check::{Options, check};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("a file is expected")?;
    let model = arguments.next().ok_or("a model is expected")?;
    let unroll = arguments.next().map_or(Ok(2), |n| n.parse())?;
    let model = match litmus::cat::shipped(&model) {
        Some(model) => model?,
        None => {
            let text = std::fs::read_to_string(&model)?;
            litmus::cat::Model::parse(&model, &model, &text, &mut litmus::cat::shipped_file)?
        }
    };
    let program = litmus::parse::parse(&std::fs::read_to_string(&file)?).map_err(|e| e.in_file(&file))?;
    let mut options = Options { unroll, ..Options::default() };
    print!("{}", check(&program, &model, &mut options)?.herd_block());
    Ok(())
}
