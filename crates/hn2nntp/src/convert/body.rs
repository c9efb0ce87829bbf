//! The bodies of an article, from templates, which the user can replace.

use std::io;
use std::path::{Path, PathBuf};

use minijinja::value::Value;
use minijinja::{Environment, context};
use thiserror::Error;

use super::clean::clean;
use super::flow::flow;
use super::plain::plain;
use super::threads::PollOption;
use crate::item::{Item, Kind, Post};

/// The names of the templates, and the built-in ones.
const BUILT_IN: [(&str, &str); 2] = [
    ("article.txt", include_str!("../../templates/article.txt")),
    ("article.html", include_str!("../../templates/article.html")),
];

/// What is wrong with a template.
#[derive(Debug, Error)]
pub(crate) enum TemplateError {
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("{}: not a directory", path.display())]
    Directory { path: PathBuf },
    #[error("template {name}: {message}")]
    Template { name: String, message: String },
}

impl TemplateError {
    fn template(name: &str, error: &minijinja::Error) -> Self {
        let place = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
        let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        Self::Template { name: name.to_owned(), message: format!("{place}{}{detail}", error.kind()) }
    }
}

/// The templates.
pub(crate) struct Templates(Environment<'static>);

/// The two forms of an article's body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bodies {
    /// Wrapped, `format=flowed`.
    pub(crate) text: String,
    pub(crate) html: String,
}

impl Templates {
    /// Reads the templates that are in the directory; the others are built in.
    pub(crate) fn load(directory: Option<&Path>) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        for (name, built_in) in BUILT_IN {
            let source = match directory {
                Some(directory) => read(directory, name)?.unwrap_or_else(|| built_in.to_owned()),
                None => built_in.to_owned(),
            };
            environment
                .add_template_owned(name, source)
                .map_err(|error| TemplateError::template(name, &error))?;
        }
        Ok(Self(environment))
    }

    /// Writes an article's bodies.
    pub(crate) fn render(
        &self,
        item: &Item,
        post: &Post,
        title: &str,
        options: &[&PollOption],
    ) -> Result<Bodies, TemplateError> {
        let html = clean(post.text.as_deref().unwrap_or_default());
        let submission = match &post.kind {
            Kind::Submission(submission) => Some(submission),
            Kind::Comment | Kind::PollOption { .. } => None,
        };
        let options: Vec<Value> = options.iter().map(|option| option_value(option)).collect();
        let context = context! {
            id => item.id,
            type => submission.map_or("comment", |submission| submission.what.name()),
            author => post.by.as_str(),
            date => post.time.date().to_string(),
            title => title,
            link => submission.and_then(|submission| submission.link.as_deref()),
            score => submission.and_then(|submission| submission.score),
            comments => submission.and_then(|submission| submission.comments),
            options => options,
            page => page(item.id),
            text => plain(&html),
            html => Value::from_safe_string(html),
        };
        Ok(Bodies {
            text: flow(&self.render_one("article.txt", &context)?),
            html: self.render_one("article.html", &context)?,
        })
    }

    fn render_one(&self, name: &str, context: &Value) -> Result<String, TemplateError> {
        let template = self.0.get_template(name);
        let rendered = template.and_then(|template| template.render(context));
        let rendered = rendered.map_err(|error| TemplateError::template(name, &error))?;
        // Fields other than the text were not cleaned before.
        Ok(rendered.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect())
    }
}

/// Returns the address of an item's page.
pub(crate) fn page(id: u64) -> String {
    format!("https://news.ycombinator.com/item?id={id}")
}

/// Writes the built-in templates into the directory.
///
/// # Errors
///
/// One of them is there already, or the directory cannot be written.
pub(crate) fn write_built_in(directory: &Path) -> Result<(), TemplateError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |cause| TemplateError::File { path, cause }
    };
    std::fs::create_dir_all(directory).map_err(failed(directory))?;
    for (name, source) in BUILT_IN {
        let path = directory.join(name);
        let mut file = std::fs::File::create_new(&path).map_err(failed(&path))?;
        io::Write::write_all(&mut file, source.as_bytes()).map_err(failed(&path))?;
    }
    Ok(())
}

fn read(directory: &Path, name: &str) -> Result<Option<String>, TemplateError> {
    if !directory.is_dir() {
        return Err(TemplateError::Directory { path: directory.to_owned() });
    }
    let path = directory.join(name);
    match std::fs::read_to_string(&path) {
        Ok(source) => Ok(Some(source)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(TemplateError::File { path, cause }),
    }
}

fn option_value(option: &PollOption) -> Value {
    let html = clean(&option.text);
    context! { text => plain(&html).replace('\n', " "), score => option.score, html => Value::from_safe_string(html) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(templates: &Templates, json: serde_json::Value, options: &[&PollOption]) -> Bodies {
        let item = Item::parse(json.to_string().as_bytes()).unwrap().unwrap();
        let crate::item::ItemStatus::Live(post) = item.status.clone() else { panic!("it is live") };
        templates.render(&item, &post, "A & B", options).unwrap()
    }

    #[test]
    fn a_story_shows_its_link_text_and_score() {
        let story = serde_json::json!({"id": 1, "type": "story", "time": 1, "title": "A & B", "score": 1,
            "url": "https://x.y/?a&b", "text": "Hi <i>all</i>", "descendants": 2});
        let bodies = bodies(&Templates::load(None).unwrap(), story, &[]);
        assert_eq!(
            bodies.text,
            "https://x.y/?a&b\n\nHi *all*\n\n1 point, 2 comments\n\n-- \nhttps://news.ycombinator.com/item?id=1\n"
        );
        assert!(bodies.html.contains("<p><a href=\"https:&#x2f;&#x2f;x.y&#x2f;?a&amp;b\">"));
        assert!(bodies.html.contains("<title>A &amp; B</title>"));
        assert!(bodies.html.contains("<div>Hi <i>all</i></div>"), "{}", bodies.html);
    }

    #[test]
    fn a_poll_shows_its_options() {
        let poll = serde_json::json!({"id": 1, "type": "poll", "time": 1, "title": "P", "score": 5});
        let option = |id, text: &str| PollOption { id, text: text.to_owned(), score: 1 + id as i64 };
        let (vi, emacs) = (option(0, "vi &amp; vim"), option(1, "Emacs<script>"));
        let bodies = bodies(&Templates::load(None).unwrap(), poll, &[&vi, &emacs]);
        assert!(
            bodies.text.starts_with("* vi & vim (1 point)\n* Emacs (2 points)\n\n5 points\n\n-- \n"),
            "{}",
            bodies.text
        );
        assert!(bodies.html.contains("<li>vi &amp; vim (1 point)</li>\n<li>Emacs (2 points)</li>"));
    }

    #[test]
    fn a_template_of_ones_own_replaces_the_built_in_one() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("article.txt"), "{{ author }}: {{ text }}").unwrap();
        let templates = Templates::load(Some(directory.path())).unwrap();
        let comment = serde_json::json!({"id": 2, "type": "comment", "time": 1, "parent": 1, "by": "me", "text": "yes"});
        let bodies = bodies(&templates, comment, &[]);
        assert_eq!(bodies.text, "me: yes\n");
        assert!(bodies.html.contains("<div>yes</div>"));
    }

    #[test]
    fn a_broken_template_is_named_with_the_line() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("article.html"), "a\n{% if %}").unwrap();
        let error = Templates::load(Some(directory.path())).err().unwrap().to_string();
        assert!(error.starts_with("template article.html: line 2: syntax error"), "{error}");
    }

    #[test]
    fn the_built_in_templates_can_be_written_once() {
        let directory = tempfile::tempdir().unwrap();
        write_built_in(directory.path()).unwrap();
        assert!(Templates::load(Some(directory.path())).is_ok());
        assert!(write_built_in(directory.path()).is_err());
    }
}
