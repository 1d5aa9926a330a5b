//! `--output` of commands that print a report.

use clap::{Args, ValueEnum};

/// The format of a report.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct OutputArgs {
    /// The output format
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

impl OutputArgs {
    pub fn is_json(self) -> bool {
        self.output == Format::Json
    }
}
