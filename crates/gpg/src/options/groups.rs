//! The groups of options under whose headings `gpgconf` shows them.

/// A heading, its text, and the options below it in the order in which `gpgconf` shows them.
pub(crate) struct Group {
    pub(crate) heading: &'static str,
    pub(crate) text: &'static str,
    pub(crate) options: &'static [&'static str],
}

/// gpg's groups. All options that `gpgconf` does not know stand before them.
pub(crate) const GROUPS: [Group; 7] = [
    Group {
        heading: "Monitor",
        text: "Options controlling the diagnostic output",
        options: &["verbose", "quiet", "no-greeting", "debug-level", "log-file"],
    },
    Group {
        heading: "Configuration",
        text: "Options controlling the configuration",
        options: &[
            "default-key",
            "encrypt-to",
            "group",
            "compliance",
            "default-new-key-algo",
            "default-new-key-adsk",
            "trust-model",
            "completes-needed",
            "marginals-needed",
            "max-cert-depth",
            "add-desig-revoker",
        ],
    },
    Group { heading: "Input", text: "Options controlling the input", options: &[] },
    Group { heading: "Output", text: "Options controlling the output", options: &[] },
    Group {
        heading: "ImportExport",
        text: "Options controlling key import and export",
        options: &[
            "auto-key-locate",
            "auto-key-import",
            "auto-key-retrieve",
            "include-key-block",
            "disable-dirmngr",
            "keyserver",
        ],
    },
    Group { heading: "Keylist", text: "Options controlling key listings", options: &["trusted-key"] },
    Group { heading: "Security", text: "Options controlling the security", options: &[] },
];
