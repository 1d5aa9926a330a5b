//! Terminal pictures in the book, `docs/terminal/*.svg`: the output of opctl when following `docs/tour.md`.
//! `SNAPSHOTS=overwrite cargo test --test quick docs` updates them.

use std::path::Path;

use anstyle_svg::Term;
use snapbox::{Assert, Data};

use crate::guide::{self, CONTROLLER, edit};
use crate::sandbox::Sandbox;

/// All pictures have this width in columns, so that their letters have the same size.
const COLUMNS: usize = 100;

const PROMPT: &str = "\x1b[1;32m$\x1b[0m ";

#[test]
fn pictures_are_as_recorded() {
    let page = super::read("docs/tour.md");
    let mut terminal = Sandbox::new();

    let init = show(&terminal, "opctl init demo --domain example.com --api cache/v1alpha1/Memcached");
    terminal.folder.push("demo");
    picture("init", &shortened(&init, 7, 6));

    guide::tour_api(&terminal, &page);
    picture("manifests", &show(&terminal, "opctl manifests --diff"));

    show(&terminal, "opctl manifests");

    guide::tour_controller(&terminal, &page);
    let check = show(&terminal, "opctl check");
    let fix = show(&terminal, "opctl check --fix");
    picture("check", &format!("{check}{fix}{}", show(&terminal, "opctl check")));

    edit(&terminal, CONTROLLER, |source| source.replace("verbs=create;patch", "verb=create;patch"));
    picture("error", &show(&terminal, "opctl manifests"));

    edit(&terminal, CONTROLLER, |source| {
        source.replace("// +kubebuilder:rbac:groups=apps,resources=deployments,verb=create;patch\n", "")
    });
    show(&terminal, "opctl manifests");
    let check = show(&terminal, "opctl check");
    let fix = show(&terminal, "opctl check --fix");
    let (written, _) = init.split_once("next:\n").unwrap();
    picture("demo", &format!("{}{PROMPT}cd demo\n{PROMPT}# edit the code\n{check}{fix}", shortened(written, 4, 1)));
}

/// A prompt with the command, and its colored output.
fn show(terminal: &Sandbox, command: &str) -> String {
    let output =
        terminal.command("sh").env("CLICOLOR_FORCE", "1").args(["-c", &format!("exec 2>&1\n{command}")]).output();
    format!("{PROMPT}\x1b[1m{command}\x1b[0m\n{}", String::from_utf8(output.unwrap().stdout).unwrap())
}

/// Omits the lines between the first and the last ones.
fn shortened(text: &str, first: usize, last: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (head, tail) = (lines[..first].join("\n"), lines[lines.len() - last..].join("\n"));
    format!("{head}\n…\n{tail}\n")
}

fn picture(name: &str, text: &str) {
    let svg =
        Term::new().palette(anstyle_svg::WIN10_CONSOLE).min_width_px(COLUMNS * 84 / 10).render_svg(text.trim_end());
    // A `viewBox` lets a picture shrink on a phone.
    let size = |name: &str| svg.split_once(name).unwrap().1.split_once("px").unwrap().0;
    let size = format!("viewBox=\"0 0 {} {}\"", size("width=\""), size("height=\""));
    let svg = svg.replacen("<svg ", &format!("<svg {size} "), 1);
    let path = Path::new(super::ROOT).join(format!("docs/terminal/{name}.svg"));
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(svg), Data::read_from(&path, None).raw());
}
