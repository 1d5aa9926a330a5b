//! Writes data to stdout and messages to stderr, asks questions only on a terminal, and uses colours only if enabled.
//!
//! A closed pipe is not an error: its reader needs no further output.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use dialoguer::Select;
use indicatif::{ProgressBar, ProgressStyle};

use super::{environment, explain, wrap};
use crate::api::Message;
use crate::error::{ExternalError, UserError};
use opctl_edit::plan::{ApplyError, Mode};
use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::names::NameError;
use opctl_process::Shield;

/// Options of every command: writing files, and output.
#[derive(Args, Debug, Default)]
pub struct GlobalArgs {
    /// List the changes without writing them
    #[arg(long, global = true, help_heading = "Writing", conflicts_with_all = ["diff", "check"])]
    pub dry_run: bool,

    /// Show the changes as a diff without writing them
    #[arg(long, global = true, help_heading = "Writing", conflicts_with = "check")]
    pub diff: bool,

    /// Exit 1 if anything is out of date, without writing it
    #[arg(long, global = true, help_heading = "Writing")]
    pub check: bool,

    /// Overwrite this file; the path is relative to the project's root (repeatable)
    #[arg(long, global = true, help_heading = "Writing", value_name = "PATH")]
    pub overwrite: Vec<String>,

    /// Print errors only
    #[arg(short, long, global = true, help_heading = "Output", conflicts_with = "verbose")]
    pub quiet: bool,

    /// List unchanged files too
    #[arg(short, long, global = true, help_heading = "Output")]
    pub verbose: bool,

    /// Use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, help_heading = "Output", value_name = "WHEN", value_enum, default_value_t)]
    pub color: Color,
}

/// `Auto`: on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// The user's settings for writing files and for output.
#[derive(Debug)]
pub struct Console {
    pub mode: Mode,
    /// Files of the user that may be overwritten.
    pub overwrite: Vec<String>,
    pub verbosity: Verbosity,
    choice: ColorChoice,
    /// The first error while writing to standard output.
    lost: Arc<OnceLock<io::Error>>,
    messages: Messages,
}

/// The destination of diagnostics.
#[derive(Debug, Default)]
enum Messages {
    #[default]
    Shown,
    Collected {
        diagnostics: RefCell<Vec<Diagnostic>>,
        to_stdout: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

impl Console {
    pub fn new(global: &GlobalArgs) -> Self {
        let mode = match global {
            GlobalArgs { dry_run: true, .. } => Mode::DryRun,
            GlobalArgs { diff: true, .. } => Mode::Diff,
            GlobalArgs { check: true, .. } => Mode::Check,
            _ => Mode::Apply,
        };
        let verbosity = match global {
            GlobalArgs { quiet: true, .. } => Verbosity::Quiet,
            GlobalArgs { verbose: true, .. } => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let choice = match global.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let (overwrite, messages) = (global.overwrite.clone(), Messages::Shown);
        Self { mode, overwrite, verbosity, choice, lost: Arc::default(), messages }
    }

    /// A console that prints only errors.
    pub fn silent(&self) -> Self {
        Self { verbosity: Verbosity::Quiet, ..self.with(Messages::Shown) }
    }

    /// A console that collects diagnostics instead of printing them. With `to_stdout`, only they are written to
    /// standard output.
    pub fn collecting(&self, to_stdout: bool) -> Self {
        self.with(Messages::Collected { diagnostics: RefCell::default(), to_stdout })
    }

    fn with(&self, messages: Messages) -> Self {
        Self { overwrite: self.overwrite.clone(), lost: self.lost.clone(), messages, ..*self }
    }

    /// The error if a part of the output could not be written. A closed pipe is not an error, because nobody reads it.
    pub fn lost_output(&self) -> Option<anyhow::Error> {
        let error = self.lost.get()?;
        let refusal = UserError::new(format!("cannot write to standard output: {error}"));
        Some(ExternalError(refusal.help("the output is incomplete: redirect it to where there is room")).into())
    }

    /// Prints requested data to stdout.
    pub fn print(&self, text: &str) {
        if matches!(self.messages, Messages::Collected { to_stdout: true, .. }) {
            return self.eprint(text);
        }
        let mut out = AutoStream::new(io::stdout().lock(), self.choice);
        self.note_loss(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Records the first error of writing to standard output.
    pub fn note_loss(&self, printed: io::Result<()>) {
        if let Err(error) = printed
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            let _ = self.lost.set(error);
        }
    }

    /// Prints problems in the user's files to stderr, with a hint to their explanation.
    pub fn diagnose(&self, diagnostics: &[Diagnostic]) {
        if let Messages::Collected { diagnostics: collected, .. } = &self.messages {
            return collected.borrow_mut().extend_from_slice(diagnostics);
        }
        let text = diagnostic::render(diagnostics, true);
        self.eprint(&match wrap::columns(io::stderr()) {
            Some(width) => wrap::wrap_diagnostics(&text, width),
            None => text,
        });
        if let Some(hint) = explain::hint(diagnostics) {
            self.message(&format!("{hint}\n"));
        }
    }

    /// Prints the collected diagnostics in the format of `show`.
    pub fn print_collected(&self, show: impl FnOnce(&[Diagnostic]) -> String) {
        let Messages::Collected { diagnostics, to_stdout } = &self.messages else { return };
        let text = show(&diagnostics.borrow());
        match to_stdout {
            true => self.note_loss(io::stdout().lock().write_all(text.as_bytes())),
            false => self.eprint(&text),
        }
    }

    /// Prints a line for each change to stdout, with its first word coloured; silent with `-q`.
    pub fn list(&self, text: &str) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        self.lines(text);
    }

    /// Prints lines to stdout at any verbosity, with the first word of each coloured.
    pub fn lines(&self, text: &str) {
        let colored: String = text.lines().map(|line| format!("{}\n", color_verb(line))).collect();
        self.print(&match wrap::columns(io::stdout()) {
            Some(width) => wrap::wrap(&colored, width),
            None => colored,
        });
    }

    /// Prints a diff to stdout, in the colours of git.
    pub fn diff(&self, text: &str) {
        self.print(&color_diff(text));
    }

    /// Prints next steps and other messages to stderr; silent with `-q`.
    pub fn info(&self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.message(&format!("{text}\n"));
        }
    }

    /// Prints text to stderr, wrapped on a terminal.
    fn message(&self, text: &str) {
        match wrap::columns(io::stderr()) {
            Some(width) => self.eprint(&wrap::wrap(text, width)),
            None => self.eprint(text),
        }
    }

    /// Prints the current step in the style of cargo, whose output is shown with it.
    pub fn status(&self, word: &str, text: &str) {
        if self.progress().is_shown() {
            // Erases the line, on which cargo may show its progress.
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
        self.info(&format!("{GOOD}{word:>12}{GOOD:#} {text}"));
    }

    pub fn note(&self, text: &str) {
        self.info(&format!("{HINT}note{HINT:#}: {text}"));
    }

    pub fn warn(&self, text: &str) {
        self.info(&format!("{WARNING}warning{WARNING:#}: {text}"));
    }

    /// Prints an error and its possible fixes to stderr, at any verbosity.
    pub fn error(&self, refusal: &UserError) {
        let mut text = format!("{ERROR}error{ERROR:#}: {}\n", refusal.message);
        for help in &refusal.help {
            text.push_str(&format!("  {HINT}help{HINT:#}: {}\n", help.replace('\n', "\n        ")));
        }
        self.message(&text);
    }

    /// Prints a possible fix to stderr.
    pub fn hint(&self, text: &str) {
        self.message(&format!("{HINT}help{HINT:#}: {text}\n"));
    }

    /// Prints text to stderr unchanged, e.g. rendered diagnostics.
    pub fn eprint(&self, text: &str) {
        let _ = AutoStream::new(io::stderr().lock(), self.choice).write_all(text.as_bytes());
    }

    /// A line with a spinner and the elapsed time, on a terminal. Dropping it clears the line.
    pub fn progress(&self) -> Progress {
        let is_terminal = io::stderr().is_terminal() && !environment::is_dumb_terminal();
        Progress { spinner: None, shown: self.verbosity > Verbosity::Quiet && is_terminal }
    }

    /// Shows a slow step until the result is dropped.
    pub fn busy(&self, step: &str) -> Progress {
        let mut progress = self.progress();
        progress.show(step);
        progress
    }

    /// Displays the messages of an operation.
    pub fn reporter(&self) -> impl Fn(Message) {
        let progress = RefCell::new(self.progress());
        move |message| {
            let mut progress = progress.borrow_mut();
            if !matches!(message, Message::Progress(_)) {
                progress.clear();
            }
            match message {
                Message::Progress(step) => progress.show(step),
                Message::Note(text) => self.note(text),
                Message::Warning(text) => self.warn(text),
                Message::Diagnostics(found) => self.diagnose(found),
            }
        }
    }

    /// `true` if stdin and stderr are terminals, so a user can answer questions.
    pub fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks until the answer is valid. Enter selects the default; `?`, or Enter without a default, prints the help.
    pub fn ask<T>(&self, question: &Question, parse: impl Fn(&str) -> Result<T, String>) -> anyhow::Result<T> {
        let Question { text, choices, default, help } = question;
        let choices = if choices.is_empty() { String::new() } else { format!(" [{choices}]") };
        loop {
            self.eprint(&format!("{text}{choices}: "));
            let mut line = String::new();
            if io::stdin().lock().read_line(&mut line)? == 0 {
                self.eprint("\n");
                return Err(UserError::new(format!("no answer to `{text}`"))
                    .help("use a flag: see `opctl --help`")
                    .into());
            }
            let answer = match line.trim() {
                "?" => {
                    self.message(&format!("  {help}\n"));
                    continue;
                }
                "" => default,
                answer => answer,
            };
            match parse(answer) {
                Ok(answer) => return Ok(answer),
                Err(_) if answer.is_empty() => self.message(&format!("  {help}\n")),
                Err(reason) => self.message(&format!("  {reason}\n")),
            }
        }
    }

    /// Asks for a missing name.
    pub fn ask_for<T: Display>(
        &self,
        name: &mut Option<String>,
        question: &Question,
        parse: impl Fn(&str) -> Result<T, NameError>,
    ) -> anyhow::Result<()> {
        if name.is_none() {
            *name = Some(self.ask(question, |answer| parse(answer).map_err(|error| error.to_string()))?.to_string());
        }
        Ok(())
    }

    /// Asks a question whose default is yes.
    pub fn ask_yes(&self, question: &str, help: &str) -> anyhow::Result<bool> {
        self.ask_yes_no(&Question { text: question, choices: "Y/n", default: "y", help })
    }

    /// Asks a question whose default is no, because deleted or overwritten data is lost.
    pub fn ask_no(&self, question: &str, help: &str) -> anyhow::Result<bool> {
        self.ask_yes_no(&Question { text: question, choices: "y/N", default: "n", help })
    }

    fn ask_yes_no(&self, question: &Question) -> anyhow::Result<bool> {
        self.ask(question, |answer| match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("answer `y` or `n`, or `?` for help".into()),
        })
    }

    /// Lets the user select one of several items with the arrow keys. Returns its index.
    pub fn choose(&self, question: &str, items: &[String]) -> anyhow::Result<usize> {
        if environment::is_dumb_terminal() {
            let list: String = items.iter().enumerate().map(|(at, item)| format!("  {} {item}\n", at + 1)).collect();
            self.eprint(&list);
            let help = "type the number of a line";
            let question = Question { text: question, choices: "1", default: "1", help };
            return self.ask(&question, |answer| {
                let at = answer.parse::<usize>().ok().filter(|at| (1..=items.len()).contains(at));
                at.map(|at| at - 1).ok_or_else(|| help.to_owned())
            });
        }
        // Ctrl-C must not leave the terminal with a hidden cursor.
        let shield = Shield::raise();
        let prompt = format!("{question} (arrow keys and Enter)");
        let chosen = Select::new().with_prompt(prompt).items(items).default(0).interact_opt();
        match chosen {
            Ok(Some(at)) if !shield.is_interrupted() => Ok(at),
            Ok(None) => {
                Err(UserError::new(format!("no answer to `{question}`")).help("use a flag: see `--help`").into())
            }
            _ => {
                let _ = dialoguer::console::Term::stderr().show_cursor();
                Err(ApplyError::Interrupted.into())
            }
        }
    }
}

/// A question on the terminal.
pub struct Question<'a> {
    pub text: &'a str,
    /// Shown in brackets: the default, or the possible answers with the default in upper case.
    pub choices: &'a str,
    /// The answer for Enter. It need not be valid.
    pub default: &'a str,
    pub help: &'a str,
}

impl<'a> Question<'a> {
    /// A question without a default.
    pub const fn new(text: &'a str, help: &'a str) -> Self {
        Self { text, choices: "", default: "", help }
    }

    pub const fn or(self, default: &'a str) -> Self {
        Self { choices: default, default, ..self }
    }
}

/// Shows the current step on standard error.
pub struct Progress {
    spinner: Option<ProgressBar>,
    shown: bool,
}

/// The time between two frames of a spinner.
const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// `true` if there is a terminal that shows it.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    pub fn show(&mut self, text: &str) {
        if self.shown {
            let spinner = self.spinner.get_or_insert_with(|| {
                let style =
                    ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}").expect("the template is valid");
                let spinner = ProgressBar::new_spinner().with_style(style.tick_chars(r"|/-\ "));
                spinner.enable_steady_tick(TICK);
                spinner
            });
            spinner.set_message(text.to_owned());
        }
    }

    /// Clears the line, so that other lines can be printed.
    pub fn clear(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Colours added lines green and removed lines red.
fn color_diff(text: &str) -> String {
    let colored = |line: &str| {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => Style::new().bold(),
            Some(b'+') => AnsiColor::Green.on_default(),
            Some(b'-') => AnsiColor::Red.on_default(),
            Some(b'@') => AnsiColor::Cyan.on_default(),
            _ => return format!("{line}\n"),
        };
        format!("{style}{line}{style:#}\n")
    };
    text.lines().map(colored).collect()
}

fn color_verb(line: &str) -> String {
    let start = line.len() - line.trim_start().len();
    let end = line[start..].find(' ').map_or(line.len(), |length| start + length);
    let style = match &line[start..end] {
        "create" | "created" | "ok" => GOOD,
        "configured" | "update" | "skipped" | "help:" => HINT,
        "remove" | "warning" => WARNING,
        "conflict" | "error" => ERROR,
        _ => return line.to_owned(),
    };
    format!("{}{style}{}{style:#}{}", &line[..start], &line[start..end], &line[end..])
}
