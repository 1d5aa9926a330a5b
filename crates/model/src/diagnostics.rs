//! The PROJECT file, manifests of cargo, and files that cannot be read; and what the crates for source and schemas both report.

crate::diagnostics! {
    /// There is no `Cargo.toml`, or it is not valid TOML, or it has neither `[package]` nor workspace members, or `members`, `exclude` or
    /// `default-members` is not a list of strings. Run opctl in the folder of a package, or specify the folder: `opctl manifests --path DIR`.
    OP003: Source, Mistake;

    /// A file exists and cannot be read: its permissions do not allow it, the disk fails, it is larger than 64 MiB, a folder or a device is
    /// in its place, or it is a symbolic link that leads nowhere. opctl does not know what the file declares, so no command writes or
    /// deletes anything: otherwise, a CRD would be removed because its type cannot be read. Fix the file, or remove it. For a file in `src`
    /// that no `mod` leads to, this is a warning.
    OP031: Source, Mistake;

    /// A file is not UTF-8. The message has the line, the column and the offset of the first byte that is not. cargo, kubectl and OLM read
    /// only UTF-8. A byte order mark (BOM) at the beginning is allowed, and so are the line ends of Windows; edits keep both. Save the file as UTF-8,
    /// for instance with `iconv -f LATIN1 -t UTF-8`.
    OP032: Source, Mistake;

    /// A member of the workspace has no `Cargo.toml`, or one without `[package]`. A path in `members`, a folder that a pattern in `members`
    /// matches, and a path dependency of a member must each be a package; cargo refuses the workspace, too. Nothing is written, because the
    /// kinds of the member would be missing. Restore the file, remove the folder, or add it to `exclude`.
    OP047: Source, Mistake;

    /// Cargo refuses the workspace: a pattern in `members` is invalid, two members have one name, a member is the root of another workspace
    /// or does not belong to this one, `package.workspace` names a folder without `[workspace]`, a member inherits a dependency that is not
    /// in `[workspace.dependencies]`, or a default member is not a member. Nothing is written. `cargo metadata --no-deps` prints cargo's own
    /// message.
    OP048: Source, Mistake;

    /// The name of a webhook or a webhook configuration is invalid. The name of a webhook is a lowercase domain with at least two dots,
    /// such as `vmemcached-v1.kb.io`; the name of a webhook configuration is a DNS subdomain and needs no dots.
    OP121: Markers, Mistake;

    /// The PROJECT file is not valid YAML or does not have the expected structure. Fix it, or restore it from version control.
    OP201: Project, Mistake;

    /// The PROJECT file has no `version`, or one that this opctl does not support. opctl supports version `"3"` with the layout
    /// `opctl/v1`. If a newer opctl wrote the file, update opctl.
    OP202: Project, Mistake;

    /// The project belongs to kubebuilder or operator-sdk, not to opctl. Create a Rust project in another folder:
    /// `opctl init DIR --domain DOMAIN`.
    OP203: Project, Mistake;

    /// A field of the PROJECT file is missing, or a name in it is invalid. The help shows the rule. See [The PROJECT
    /// file](project-file.md).
    OP204: Project, Mistake;

    /// `manifests` in the PROJECT file is not a mapping, or has an unknown key. The keys are `crds`, `foreignDescriptions`,
    /// `maxDescription` and `namespaces`. See [The PROJECT file](project-file.md).
    OP205: Project, Mistake;

    /// A value in `manifests` has the wrong type: `maxDescription` is a number of characters, `foreignDescriptions` is `true` or `false`,
    /// `namespaces` is a list of namespaces, and `crds` is a list of files and folders in the repository, as paths from the folder of the
    /// project. Or one in the `options` of a resource has: see [The PROJECT file](project-file.md).
    OP206: Project, Mistake;
}
