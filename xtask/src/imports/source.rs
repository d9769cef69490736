//! The imports and declarations of one Rust file, read from its text.
//!
//! This is no parser of Rust: it splits the text into words and marks, and looks at `mod`, `use`,
//! paths and the names of items. Comments, literals, bodies of `macro_rules!` and items under
//! `#[cfg(test)]` are left out.

use std::collections::BTreeSet;

/// A path of modules or items, segment by segment.
pub(crate) type Path = Vec<String>;

/// The declarations and imports of one file. Module paths are relative to the file's own module.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Modules whose bodies are other files (`mod x;`).
    pub(crate) children: Vec<Path>,
    /// Modules whose bodies are in this file (`mod x { .. }`).
    pub(crate) inline: Vec<Path>,
    /// Names that `use` brings into a module.
    pub(crate) bindings: Vec<Binding>,
    /// All paths of more than one segment, and all that `use` names.
    pub(crate) mentions: Vec<Mention>,
    /// Items that are defined here, each with the path of its module before its name.
    pub(crate) items: BTreeSet<Path>,
    /// Lines outside items under `#[cfg(test)]`.
    pub(crate) lines: usize,
}

/// A name that `use` brings into a module.
#[derive(Debug, PartialEq)]
pub(crate) struct Binding {
    /// The module with the `use`.
    pub(crate) module: Path,
    /// The name, or none for `*`.
    pub(crate) name: Option<String>,
    /// The path that the name stands for.
    pub(crate) path: Path,
}

/// A path in the code.
#[derive(Debug, PartialEq)]
pub(crate) struct Mention {
    /// The module around it.
    pub(crate) module: Path,
    /// The path as written, without `*` or `self` at the end.
    pub(crate) path: Path,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// A word, a number or a mark of the text. Literals are left out.
#[derive(Debug)]
struct Token {
    text: String,
    line: usize,
}

/// A pair of braces around the code.
enum Scope {
    Module(String),
    Block,
}

impl Source {
    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Self {
        let mut reader = Reader { tokens: tokens(text), at: 0, scopes: Vec::new(), source: Self::default() };
        reader.source.lines = text.lines().count();
        reader.read();
        reader.source
    }
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    scopes: Vec<Scope>,
    source: Source,
}

impl Reader {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| &token.text)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |token| token.line)
    }

    fn is(&self, texts: &[&str]) -> bool {
        texts.iter().enumerate().all(|(i, text)| self.text(i) == *text)
    }

    /// The module that the current token is in.
    fn module(&self) -> Path {
        let names = self.scopes.iter().filter_map(|scope| match scope {
            Scope::Module(name) => Some(name.clone()),
            Scope::Block => None,
        });
        names.collect()
    }

    /// Whether the current token is in no function or other block of code.
    fn is_at_module_level(&self) -> bool {
        self.scopes.iter().all(|scope| matches!(scope, Scope::Module(_)))
    }

    fn read(&mut self) {
        while self.at < self.tokens.len() {
            match self.text(0) {
                "#" if self.is(&["#", "["]) => self.read_attribute(),
                "{" => self.enter(Scope::Block),
                "}" => {
                    self.scopes.pop();
                    self.at += 1;
                }
                "mod" if is_word(self.text(1)) => self.read_module(),
                "use" if self.text(1) != "<" => self.read_use(),
                "macro_rules" if self.text(1) == "!" => self.read_macro(),
                "const" if matches!(self.text(1), "fn" | "unsafe" | "extern" | "async") => self.at += 1,
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                    if is_word(self.text(1)) =>
                {
                    self.read_item(1);
                }
                text if is_word(text) && self.text(1) == "::" => self.read_path(),
                _ => self.at += 1,
            }
        }
    }

    fn enter(&mut self, scope: Scope) {
        self.scopes.push(scope);
        self.at += 1;
    }

    /// Skips an attribute, and under `#[cfg(test)]` also the item behind it.
    fn read_attribute(&mut self) {
        let start = self.line();
        let first = self.at;
        self.skip_group("[", "]");
        let words: Vec<_> = self.tokens[first..self.at].iter().map(|token| token.text.as_str()).collect();
        let is_test = words.starts_with(&["#", "[", "cfg", "("])
            && words.contains(&"test")
            && !words.contains(&"not")
            && !words.contains(&"any");
        if !is_test {
            return;
        }
        while self.is(&["#", "["]) {
            self.skip_group("[", "]");
        }
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.text(0) {
                "{" if depth == 0 => {
                    self.skip_group("{", "}");
                    break;
                }
                ";" | "," if depth == 0 => {
                    self.at += 1;
                    break;
                }
                "}" if depth == 0 => break,
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        let end = self.tokens.get(self.at.saturating_sub(1)).map_or(start, |token| token.line);
        self.source.lines = self.source.lines.saturating_sub(end + 1 - start);
    }

    /// Skips to behind the bracket that closes the next one to open.
    fn skip_group(&mut self, open: &str, close: &str) {
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            let text = self.text(0);
            if text == open {
                depth += 1;
            } else if text == close {
                depth -= 1;
            }
            self.at += 1;
            if depth == 0 && self.tokens[self.at - 1].text == close {
                return;
            }
        }
    }

    fn read_module(&mut self) {
        let name = self.text(1).to_owned();
        let mut path = self.module();
        path.push(name.clone());
        self.at += 2;
        match self.text(0) {
            ";" => self.source.children.push(path),
            "{" => {
                self.source.inline.push(path);
                self.enter(Scope::Module(name));
            }
            _ => {}
        }
    }

    /// Notes an item whose name is some tokens ahead.
    fn read_item(&mut self, ahead: usize) {
        if self.is_at_module_level() {
            let mut path = self.module();
            path.push(self.text(ahead).to_owned());
            self.source.items.insert(path);
        }
        self.at += ahead + 1;
    }

    /// Notes a macro and skips its body: paths there are imports of the files that call the macro.
    fn read_macro(&mut self) {
        self.read_item(2);
        self.skip_group("{", "}");
    }

    fn read_use(&mut self) {
        self.at += 1;
        self.read_use_tree(&[]);
    }

    /// Reads a path, or a group of them, behind `prefix`.
    fn read_use_tree(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        let line = self.line();
        loop {
            match self.text(0) {
                "::" | "$" => self.at += 1,
                "*" => {
                    self.at += 1;
                    return self.bind(path, Some(None), line);
                }
                "{" => {
                    self.at += 1;
                    while !matches!(self.text(0), "}" | "") {
                        self.read_use_tree(&path);
                        if self.text(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "as" => {
                    let name = self.text(1).to_owned();
                    self.at += 2;
                    return self.bind(path, Some(Some(name)), line);
                }
                // In a group, the path before it.
                "self" if !path.is_empty() => self.at += 1,
                text if is_word(text) => {
                    path.push(text.to_owned());
                    self.at += 1;
                }
                "," | "}" => return self.bind(path, None, line),
                _ => {
                    self.at += 1;
                    return self.bind(path, None, line);
                }
            }
        }
    }

    /// Notes what a `use` names. `name` is the path's last segment where none is given.
    fn bind(&mut self, path: Path, name: Option<Option<String>>, line: usize) {
        let module = self.module();
        if self.is_at_module_level() {
            let name = name.unwrap_or_else(|| path.last().cloned());
            self.source.bindings.push(Binding { module: module.clone(), name, path: path.clone() });
        }
        self.source.mentions.push(Mention { module, path, line });
    }

    /// Reads `a::b::c` in code.
    fn read_path(&mut self) {
        let line = self.line();
        let before = |back: usize| self.at.checked_sub(back).map_or("", |i| self.tokens[i].text.as_str());
        // A path of another crate, a method's generics, a visibility.
        let is_other = matches!(before(1), "::" | ".") || (before(1) == "in" && before(2) == "(");
        let mut path = vec![self.text(0).to_owned()];
        self.at += 1;
        while self.text(0) == "::" && is_word(self.text(1)) {
            path.push(self.text(1).to_owned());
            self.at += 2;
        }
        if !is_other && path.len() > 1 {
            self.source.mentions.push(Mention { module: self.module(), path, line });
        }
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits a text into tokens, without comments and literals.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut line, mut at) = (Vec::new(), 1, 0);
    while at < chars.len() {
        let start = at;
        let next = chars.get(at + 1).copied();
        match chars[at] {
            '/' if next == Some('/') => at = end_of_line(&chars, at),
            '/' if next == Some('*') => at = end_of_comment(&chars, at),
            '"' => at = end_of_string(&chars, at + 1),
            '\'' if next == Some('\\') || chars.get(at + 2) == Some(&'\'') => {
                // The escaped character may be a quote itself.
                at += if next == Some('\\') { 3 } else { 2 };
                while chars.get(at).is_some_and(|c| *c != '\'') {
                    at += 1;
                }
                at += 1;
            }
            c if c.is_alphanumeric() || c == '_' => {
                while chars.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                    at += 1;
                }
                let word: String = chars[start..at].iter().collect();
                let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
                if matches!(word.as_str(), "r" | "br" | "cr") && chars.get(at + hashes) == Some(&'"') {
                    at = end_of_raw_string(&chars, at + hashes + 1, hashes);
                } else {
                    tokens.push(Token { text: word, line });
                }
            }
            ':' if next == Some(':') => {
                tokens.push(Token { text: "::".to_owned(), line });
                at += 2;
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(Token { text: c.to_string(), line });
                }
                at += 1;
            }
        }
        at = at.min(chars.len());
        line += chars[start..at].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn end_of_line(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| at + length)
}

/// The end of a block comment, which may hold others.
fn end_of_comment(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn end_of_string(chars: &[char], mut at: usize) -> usize {
    while chars.get(at).is_some_and(|c| *c != '"') {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn end_of_raw_string(chars: &[char], mut at: usize, hashes: usize) -> usize {
    while at < chars.len() {
        at += 1;
        let closing = chars[at.min(chars.len())..].iter().take_while(|c| **c == '#').count();
        if chars[at - 1] == '"' && closing >= hashes {
            break;
        }
    }
    at + hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.split("::").map(str::to_owned).collect()
    }

    fn mentions(text: &str) -> Vec<String> {
        Source::parse(text).mentions.iter().map(|mention| mention.path.join("::")).collect()
    }

    #[test]
    fn groups_globs_and_new_names_are_read() {
        let source = Source::parse("pub(crate) use super::{a::{self, B}, c as d, e::*};");
        let binding = |name: Option<&str>, to: &str| Binding {
            module: Path::new(),
            name: name.map(str::to_owned),
            path: path(to),
        };
        assert_eq!(
            source.bindings,
            [
                binding(Some("a"), "super::a"),
                binding(Some("B"), "super::a::B"),
                binding(Some("d"), "super::c"),
                binding(None, "super::e"),
            ]
        );
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        let text = r##"
            //! crate::doc::line
            /* crate::block /* crate::nested */ crate::still */
            const A: &str = "crate::string \" crate::more";
            const B: &str = r#"crate::raw " crate::more"#;
            const C: [char; 3] = ['"', '\'', 'x'];
            fn f<'a>(x: &'a u8) { crate::code::call(x) }
        "##;
        assert_eq!(mentions(text), ["crate::code::call"]);
        assert_eq!(Source::parse(text).mentions[0].line, 7);
    }

    #[test]
    fn tests_are_left_out_and_not_counted() {
        let text = "use a::b;\n#[cfg(test)]\n#[allow(dead_code)]\nmod tests {\n    use super::*;\n}\n";
        assert_eq!(mentions(text), ["a::b"]);
        assert_eq!(Source::parse(text).lines, 1);
        assert_eq!(mentions("#[cfg(test)]\nuse a::b;\nuse c::d;"), ["c::d"]);
        assert_eq!(mentions("struct S {\n#[cfg(test)]\na: a::B,\nc: c::D,\n}"), ["c::D"]);
        assert_eq!(mentions("#[cfg(not(test))]\nuse a::b;"), ["a::b"]);
    }

    #[test]
    fn modules_and_items_are_declared_where_they_stand() {
        let source = Source::parse(
            "mod a;\npub mod b { mod c; const fn f() { fn g() {} } }\nmacro_rules! m { () => {} }",
        );
        assert_eq!(source.children, [path("a"), path("b::c")]);
        assert_eq!(source.inline, [path("b")]);
        assert_eq!(source.items, BTreeSet::from([path("b::f"), path("m")]));
    }

    #[test]
    fn visibilities_macros_and_other_crates_are_no_imports() {
        assert_eq!(mentions("macro_rules! m { () => { $crate::a::f(b::c) } }"), [""; 0]);
        assert_eq!(
            mentions("pub(in crate::a) fn f() { ::std::mem::drop(1); x.collect::<Vec<_>>() }"),
            [""; 0]
        );
    }
}
