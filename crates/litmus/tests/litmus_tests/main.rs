//! Tests of the formats of litmus tests, of the memory models, and of the checks.
//!
//! All of them are modules of one binary, because each binary is compiled and linked with the whole
//! crate.

mod barriers;
mod cat_herd;
mod cat_language;
mod common;
mod corpus;
mod generate;
mod hash;
mod hrf_cat;
mod hrf_check;
mod hrf_oracle;
mod hrf_paper;
mod kernel;
mod liveness;
mod models;
mod pages;
mod parse_errors;
mod parse_herd;
mod parse_meaning;
mod parse_sample;
mod progress_sample;
mod reports;
mod robustness;
mod size;
mod vulkan_memory;
mod vulkan_order;
mod vulkan_other;
