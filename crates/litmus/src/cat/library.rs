//! The memory models that come with the tool.

use crate::parse::TextError;

use super::Model;

/// A memory model that comes with the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The name by which the command line selects the model.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// The text of the model.
    pub text: &'static str,
}

/// The models that come with the tool.
const SHIPPED: [Shipped; 14] = [
    Shipped { name: "sc", summary: "sequential consistency", text: include_str!("../../models/sc.cat") },
    Shipped {
        name: "tso",
        summary: "total store order of SPARC and x86",
        text: include_str!("../../models/tso.cat"),
    },
    Shipped {
        name: "rmo",
        summary: "relaxed memory order of SPARC, with fences of three kinds",
        text: include_str!("../../models/rmo.cat"),
    },
    Shipped {
        name: "drf",
        summary: "sequential consistency for data-race-free programs",
        text: include_str!("../../models/drf.cat"),
    },
    Shipped {
        name: "hrf-direct",
        summary: "SC for heterogeneous-race-free, direct",
        text: include_str!("../../models/hrf-direct.cat"),
    },
    Shipped {
        name: "hrf-indirect",
        summary: "SC for heterogeneous-race-free, indirect",
        text: include_str!("../../models/hrf-indirect.cat"),
    },
    Shipped {
        name: "c11",
        summary: "C11 atomics, with the simplified axiom of sequential consistency",
        text: include_str!("../../models/c11.cat"),
    },
    Shipped { name: "rc11", summary: "the repaired C11 model", text: include_str!("../../models/rc11.cat") },
    Shipped { name: "opencl", summary: "OpenCL 2.0", text: include_str!("../../models/opencl.cat") },
    Shipped {
        name: "opencl-scoped",
        summary: "OpenCL 2.0 with sequential consistency within scopes",
        text: include_str!("../../models/opencl-scoped.cat"),
    },
    Shipped {
        name: "opencl-rsp",
        summary: "OpenCL 2.0 with remote-scope promotion",
        text: include_str!("../../models/opencl-rsp.cat"),
    },
    Shipped { name: "ptx-6.0", summary: "PTX 6.0", text: include_str!("../../models/ptx-6.0.cat") },
    Shipped {
        name: "ptx-7.5",
        summary: "PTX 7.5, with proxies",
        text: include_str!("../../models/ptx-7.5.cat"),
    },
    Shipped {
        name: "vulkan",
        summary: "Vulkan, with availability and visibility",
        text: include_str!("../../models/vulkan.cat"),
    },
];

/// The definitions that every model can use.
pub(super) const STDLIB: &str = include_str!("../../models/stdlib.cat");

/// The files that several models include.
const PARTS: [(&str, &str); 4] = [
    ("stdlib.cat", STDLIB),
    ("hrf-parts.cat", include_str!("../../models/hrf-parts.cat")),
    ("opencl-parts.cat", include_str!("../../models/opencl-parts.cat")),
    ("opencl-sc.cat", include_str!("../../models/opencl-sc.cat")),
];

/// The definitions that models of x86 need on tests in formats other than x86.
pub(super) const X86: &str = include_str!("../../models/herd/x86.cat");
pub(super) const X86_FILE: &str = "x86.cat";

/// The file of the Linux kernel's memory model that defines the orders of locks. The tool always
/// uses its own file in place of this file.
pub(super) const LOCKS: &str = "lock.cat";

/// The tool's own text for the herd file `name`. It is used if a model includes the file and the
/// file is missing.
pub(super) fn herd_substitute(name: &str) -> Option<String> {
    const FENCES: &str = include_str!("../../models/herd/no-fences.cat");
    let text = match name {
        "cos.cat" | "cos-opt.cat" | "basic.cat" => include_str!("../../models/herd/cos.cat"),
        "filters.cat" => include_str!("../../models/herd/filters.cat"),
        LOCKS => include_str!("../../models/herd/lock.cat"),
        "fences.cat" | "x86fences.cat" | "armfences.cat" | "ppcfences.cat" | "aarch64fences.cat"
        | "mipsfences.cat" | "riscvfences.cat" => FENCES,
        _ => return None,
    };
    Some(text.to_owned())
}

/// The models that come with the tool, in the order in which a listing shows them.
#[must_use]
pub fn shipped_names() -> &'static [Shipped] {
    &SHIPPED
}

/// The model with this name that comes with the tool. `None` if no such model exists.
///
/// # Errors
/// If the text of the model cannot be parsed. A test checks that all these texts can be parsed.
pub fn shipped(name: &str) -> Option<Result<Model, TextError>> {
    let of = SHIPPED.iter().find(|s| s.name == name)?;
    let model = Model::parse(of.name, &format!("{}.cat", of.name), of.text, &mut shipped_file);
    Some(model.map(|model| Model { merges_rmw: false, ..model }))
}

/// The text of the file `file`, one of the files that come with the tool and that models may
/// include.
///
/// # Errors
/// If there is no such file.
pub fn shipped_file(file: &str) -> Result<String, String> {
    let part = PARTS.iter().find(|(name, _)| *name == file).map(|(_, text)| *text);
    let model = SHIPPED.iter().find(|s| file.strip_suffix(".cat") == Some(s.name)).map(|s| s.text);
    part.or(model).map(str::to_owned).ok_or_else(|| "no built-in file has this name".to_owned())
}
