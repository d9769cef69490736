//! The parts of a Markdown document that the rules are about: paragraphs, headings and links. It
//! knows as much of Markdown as the documents of this repository use.

/// The word that stands for code. It can begin a sentence.
const CODE: char = 'X';

/// A document without its code blocks.
pub(crate) struct Document {
    blocks: Vec<Block>,
    headings: Vec<String>,
}

/// A paragraph, an item of a list, a row of a table or a line of HTML.
struct Block {
    lines: Vec<(usize, String)>,
    /// Rows of tables and lines of HTML have links, but no sentences.
    is_row: bool,
}

/// A sentence, with the line on which it starts.
pub(crate) struct Sentence {
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
}

/// The target of a link or of an image, with its line.
pub(crate) struct Link {
    pub(crate) line: usize,
    pub(crate) target: String,
}

impl Document {
    pub(crate) fn parse(text: &str) -> Self {
        let mut document = Self { blocks: Vec::new(), headings: Vec::new() };
        let mut fence: Option<String> = None;
        let mut open = false;
        for (number, line) in (1..).zip(text.lines()) {
            let content = line.trim_start_matches([' ', '>']).trim_end();
            if let Some(end) = &fence {
                if content.starts_with(end.as_str()) {
                    fence = None;
                }
                open = false;
                continue;
            }
            let ticks = content.chars().take_while(|c| *c == '`').count();
            if ticks >= 3 {
                fence = Some("`".repeat(ticks));
            } else if let Some(heading) = heading(content) {
                document.headings.push(heading.to_owned());
                document.blocks.push(Block { lines: vec![(number, heading.to_owned())], is_row: false });
                open = false;
            } else if content.is_empty() || content.starts_with("<!--") {
                open = false;
            } else if content.starts_with('|') || is_html(content) {
                document.blocks.push(Block { lines: vec![(number, content.to_owned())], is_row: true });
                open = false;
            } else {
                let item = item(content);
                if !open || item.is_some() {
                    document.blocks.push(Block { lines: Vec::new(), is_row: false });
                }
                open = true;
                let last = document.blocks.last_mut().expect("just pushed");
                last.lines.push((number, item.unwrap_or(content).to_owned()));
            }
        }
        document
    }

    /// The sentences of paragraphs, headings and items of lists.
    pub(crate) fn sentences(&self) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for block in self.blocks.iter().filter(|block| !block.is_row) {
            // Code can span lines, so it is found in the block, in which each line ends with '\n'.
            let text: String = block.lines.iter().map(|(_, line)| format!("{line}\n")).collect();
            let text = without_targets(&without_code(&text));
            let words = (text.lines().zip(&block.lines))
                .flat_map(|(line, (number, _))| line.split_whitespace().map(move |word| (*number, word)));
            let mut sentence = Sentence { line: 0, words: Vec::new() };
            let mut ended = false;
            for (number, word) in words {
                if ended && !word.starts_with(char::is_lowercase) {
                    let next = Sentence { line: 0, words: Vec::new() };
                    sentences.push(std::mem::replace(&mut sentence, next));
                }
                // Dashes and the like are no words.
                if word.contains(char::is_alphanumeric) {
                    if sentence.words.is_empty() {
                        sentence.line = number;
                    }
                    sentence.words.push(word.to_owned());
                }
                let word = word.trim_end_matches(['"', '\'', ')', '*', '_', ']']);
                ended = word.ends_with(['.', '!', '?']);
            }
            sentences.push(sentence);
        }
        sentences.retain(|sentence| !sentence.words.is_empty());
        sentences
    }

    /// The targets of links and images, of definitions (`[name]: target`), and of HTML.
    pub(crate) fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for block in &self.blocks {
            let text: String = block.lines.iter().map(|(_, line)| format!("{line}\n")).collect();
            let text = without_code(&text);
            let mut link = |at: usize, end: char| {
                let target: String = text[at..].chars().take_while(|c| *c != end).collect();
                let target = target.trim().trim_matches(['<', '>']);
                // A title may follow.
                if let Some(target) = target.split_whitespace().next() {
                    let line = block.lines[text[..at].matches('\n').count()].0;
                    links.push(Link { line, target: target.to_owned() });
                }
            };
            for (at, _) in text.match_indices("](") {
                link(at + 2, ')');
            }
            for attribute in ["src=\"", "href=\""] {
                for (at, _) in text.match_indices(attribute).filter(|_| block.is_row) {
                    link(at + attribute.len(), '"');
                }
            }
            for (at, _) in text.match_indices("]: ") {
                let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
                if text[start..].starts_with('[') && !text[start..at].contains(']') {
                    link(at + 3, '\n');
                }
            }
        }
        links
    }

    /// The anchors of the headings, as hosts of repositories and mdBook make them.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for heading in &self.headings {
            let (heading, given) = match heading.rsplit_once("{#") {
                Some((heading, id)) => (heading, id.strip_suffix('}')),
                None => (heading.as_str(), None),
            };
            let plain = without_targets(heading);
            let kept = plain.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
            let slug: String =
                kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
            let slug = given.map_or(slug, str::to_owned);
            // The second of equal headings gets a number.
            let numbered = (1..).map(|i| format!("{slug}-{i}"));
            let free = std::iter::once(slug.clone()).chain(numbered).find(|name| !anchors.contains(name));
            anchors.extend(free);
        }
        anchors
    }
}

/// Whether a line is HTML from its start to its end.
pub(crate) fn is_html(line: &str) -> bool {
    let is_tag =
        line.starts_with("</") || line.starts_with('<') && line[1..].starts_with(char::is_alphabetic);
    is_tag && line.ends_with('>') && !line.starts_with("<http")
}

/// The text of a heading; `None` where the line is no heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len()).then(|| text.strip_prefix(' ')).flatten()
}

/// The text of a list's item; `None` where the line starts no item.
fn item(line: &str) -> Option<&str> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        return line[digits..].strip_prefix(". ");
    }
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark))
}

/// Replaces code in a text by one word. Newlines inside the code stay.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let (before, code) = (&rest[..start], &rest[start + ticks..]);
        plain.push_str(before);
        let Some(end) = code.find(&"`".repeat(ticks)) else {
            plain.push_str(code);
            return plain;
        };
        plain.push(CODE);
        plain.extend(code[..end].chars().filter(|c| *c == '\n'));
        rest = &code[end + ticks..];
    }
    plain.push_str(rest);
    plain
}

/// Removes the targets of links, so that their texts remain. Newlines inside stay.
fn without_targets(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("](") {
        plain.push_str(&rest[..start]);
        let target = &rest[start + 2..];
        let end = target.find(')').unwrap_or(target.len());
        plain.extend(target[..end].chars().filter(|c| *c == '\n'));
        rest = &target[(end + 1).min(target.len())..];
    }
    plain.push_str(rest);
    plain.replace('[', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of words of a document's sentences.
    fn lengths(text: &str) -> Vec<usize> {
        Document::parse(text).sentences().iter().map(|sentence| sentence.words.len()).collect()
    }

    #[test]
    fn sentences_end_at_stops_before_words_that_are_not_lower_case() {
        assert_eq!(lengths("One two. Three (four five.) Six?\nSeven!"), [2, 3, 1, 1]);
        assert_eq!(lengths("By Phull et al. in 2011, e.g. with 0.04 and README.md alone."), [12]);
        assert_eq!(lengths("It ends. `code` begins the next."), [2, 4]);
        assert_eq!(lengths("A dash – and an arrow -> are no words."), [8]);
    }

    #[test]
    fn code_blocks_tables_and_code_have_no_words() {
        assert_eq!(lengths("One.\n```sh\na b c d\n```\nTwo words.\n"), [1, 2]);
        assert_eq!(lengths("````\n```\na b\n````\nOne.\n"), [1]);
        assert_eq!(lengths("| a | b c d |\n| --- | --- |\n"), [0; 0]);
        assert_eq!(lengths("Run `cargo run\n--release` now.\n"), [3]);
    }

    #[test]
    fn items_and_headings_are_blocks_of_their_own() {
        assert_eq!(
            lengths("# Two words\ntext\n- one item,\n  continued\n- another\n1. first\n"),
            [2, 1, 3, 1, 1]
        );
    }

    #[test]
    fn a_link_counts_by_its_text() {
        assert_eq!(lengths("See [the\nguide](docs/a b.md) and ![picture](p.png)."), [5]);
    }

    #[test]
    fn links_have_their_lines() {
        let document = Document::parse(
            "a [b](c.md \"title\")\nd ![e](f.png) [g][h]\n\n| [i](j.md#k) |\n\n[h]: <l.md>\n",
        );
        let links: Vec<_> = document.links().into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(1, "c.md"), (2, "f.png"), (4, "j.md#k"), (6, "l.md")];
        assert_eq!(links, expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn html_has_links_and_no_words() {
        let document =
            Document::parse("One.\n<figure><img src=\"a.png\"> a <a href=\"c.md\">d e</a></figure>\nTwo.\n");
        assert_eq!(document.sentences().len(), 2);
        let links: Vec<_> = document.links().into_iter().map(|link| (link.line, link.target)).collect();
        assert_eq!(links, [(2, "a.png".to_owned()), (2, "c.md".to_owned())]);
        assert_eq!(Document::parse("<https://example.org> is an address.\n").sentences().len(), 1);
    }

    #[test]
    fn anchors_are_made_as_hosts_make_them() {
        let text = "# Plan: the only dispatch\n## `u8` & more\n## Again\n## Again\n## Long {#short}\n## [A](b.md) c\n";
        let expected = ["plan-the-only-dispatch", "u8--more", "again", "again-1", "short", "a-c"];
        assert_eq!(Document::parse(text).anchors(), expected);
    }
}
