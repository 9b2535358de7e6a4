//! Which source file of a crate names items of which other: read from its tokens, names followed through re-exports.

use std::collections::{BTreeMap, BTreeSet};

/// A module's path from the root of its crate, empty for the root.
type Path = Vec<String>;

/// What a name in a module leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// A module of this crate.
    Module(Path),
    /// An item that the module at this path defines.
    Item(Path),
    /// Something of another crate.
    Foreign,
}

/// One `use`, a name each.
#[derive(Debug)]
struct Use {
    /// The path as written, without the name under which it is known here.
    path: Path,
    /// `None` for `*`.
    name: Option<String>,
    /// Handed on to others by `pub` of any kind.
    is_handed_on: bool,
}

impl Use {
    /// The tree of names under `path`.
    const fn under(path: Path, is_handed_on: bool) -> Self {
        Self { path, name: None, is_handed_on }
    }
}

/// What one module (of a file, or inline) says.
#[derive(Debug, Default)]
struct Module {
    /// The file in which it stands.
    file: String,
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths of two names or more outside of `use`.
    paths: BTreeSet<Path>,
}

/// The files of one crate and the arrows between them.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    modules: BTreeMap<Path, Module>,
    /// File to files whose items it names, with those names. Arrows to the file of an enclosing module are left out: a
    /// submodule is a part of it.
    arrows: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Imports {
    /// Reads the files of one crate: (path from its `src/`, text). Tests are left out, inline or in files.
    pub(crate) fn read(files: &[(String, String)]) -> Self {
        let mut imports = Self::default();
        let mut tests = BTreeSet::new();
        for (file, text) in files {
            let path = module_path(file);
            let found = Reader::new(file, path).read(&tokens(text));
            imports.modules.extend(found.modules);
            tests.extend(found.tests);
        }
        imports.modules.retain(|path, _| {
            let is_test = |at| tests.contains(&path[..at]);
            !(1..=path.len()).any(is_test)
        });
        imports.draw();
        imports
    }

    /// Files that name each other in a loop, sorted, with the arrows among them.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let reach: BTreeMap<&String, BTreeSet<&String>> =
            self.arrows.keys().map(|file| (file, self.reached_from(file))).collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (file, reached) in &reach {
            let circle: Vec<String> = reached
                .iter()
                .filter(|other| reach.get(*other).is_some_and(|back| back.contains(file)))
                .map(|other| (*other).clone())
                .collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// The arrows among `files`, as one line each with the names.
    pub(crate) fn among(&self, files: &[String]) -> Vec<String> {
        let mut lines = Vec::new();
        for from in files {
            for (to, names) in self.arrows.get(from).into_iter().flatten() {
                if files.contains(to) {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    lines.push(format!("{from} -> {to}: {}", names.join(", ")));
                }
            }
        }
        lines
    }

    /// Where files under `from` name items of files under `to`, both being prefixes of paths.
    pub(crate) fn between(&self, from: &str, to: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for (file, targets) in self.arrows.iter().filter(|(file, _)| file.starts_with(from)) {
            for (target, names) in targets.iter().filter(|(target, _)| target.starts_with(to)) {
                lines.push(format!("{file} -> {target}: {names:?}"));
            }
        }
        lines
    }

    fn reached_from<'a>(&'a self, file: &'a String) -> BTreeSet<&'a String> {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![file];
        while let Some(file) = waiting.pop() {
            for next in self.arrows.get(file).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(next) {
                    waiting.push(next);
                }
            }
        }
        reached
    }

    fn draw(&mut self) {
        let mut arrows: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (here, module) in &self.modules {
            let taken = module.uses.iter().filter(|used| !used.is_handed_on).map(|u| &u.path);
            for path in taken.chain(&module.paths) {
                let Target::Item(owner) = self.resolve(here, path, &mut Vec::new()) else {
                    continue;
                };
                let target = &self.modules[&owner].file;
                let own = module_path(&module.file);
                if *target != module.file && !own.starts_with(&module_path(target)) {
                    let name = path.last().cloned().unwrap_or_default();
                    let names =
                        arrows.entry(module.file.clone()).or_default().entry(target.clone());
                    names.or_default().insert(name);
                }
            }
        }
        self.arrows = arrows;
    }

    /// What `path` means in the module at `here`.
    fn resolve(&self, here: &Path, path: &[String], seen: &mut Vec<(Path, String)>) -> Target {
        let Some((first, mut rest)) = path.split_first() else {
            return Target::Module(here.clone());
        };
        let mut at = match first.as_str() {
            "crate" => Vec::new(),
            "self" => here.clone(),
            "super" => here[..here.len().saturating_sub(1)].to_vec(),
            _ => match self.name(here, first, seen) {
                Some(Target::Module(path)) => path,
                Some(other) => return other,
                None => return Target::Foreign,
            },
        };
        while let Some((name, after)) = rest.split_first() {
            if name == "super" {
                at.pop();
            } else {
                match self.name(&at, name, seen) {
                    Some(Target::Module(path)) => at = path,
                    Some(other) => return other,
                    // Made by a macro, or a name that a glob of another crate brings.
                    None => return Target::Item(at),
                }
            }
            rest = after;
        }
        Target::Module(at)
    }

    /// What `name` means in the module at `at`, or `None` if nothing there brings it.
    fn name(&self, at: &Path, name: &str, seen: &mut Vec<(Path, String)>) -> Option<Target> {
        let module = self.modules.get(at)?;
        let key = (at.clone(), name.to_owned());
        if seen.contains(&key) {
            return None;
        }
        seen.push(key);
        let found = self.name_unguarded(module, at, name, seen);
        seen.pop();
        found
    }

    fn name_unguarded(
        &self,
        module: &Module,
        at: &Path,
        name: &str,
        seen: &mut Vec<(Path, String)>,
    ) -> Option<Target> {
        if module.children.contains(name) {
            let mut child = at.clone();
            child.push(name.to_owned());
            return self.modules.contains_key(&child).then_some(Target::Module(child));
        }
        if module.items.contains(name) {
            return Some(Target::Item(at.clone()));
        }
        if let Some(used) = module.uses.iter().find(|used| used.name.as_deref() == Some(name)) {
            return Some(self.resolve(at, &used.path, seen));
        }
        for glob in module.uses.iter().filter(|used| used.name.is_none()) {
            if let Target::Module(brought) = self.resolve(at, &glob.path, seen)
                && let Some(found) = self.name(&brought, name, seen)
            {
                return Some(found);
            }
        }
        None
    }
}

/// `a/b.rs` is the module `a::b`; the roots have no name.
fn module_path(file: &str) -> Path {
    match file {
        "lib.rs" | "main.rs" => Vec::new(),
        _ => file.trim_end_matches(".rs").split('/').map(str::to_owned).collect(),
    }
}

/// What one file says: its modules, and those of them that are tests.
#[derive(Default)]
struct Found {
    modules: BTreeMap<Path, Module>,
    tests: BTreeSet<Path>,
}

/// Reads the tokens of one file.
struct Reader {
    file: String,
    found: Found,
    /// The module at hand, with the depth of braces at which it ends.
    open: Vec<(Path, usize)>,
    depth: usize,
}

impl Reader {
    fn new(file: &str, path: Path) -> Self {
        Self { file: file.to_owned(), found: Found::default(), open: vec![(path, 0)], depth: 0 }
    }

    fn module(&mut self) -> &mut Module {
        let path = self.open[self.open.len() - 1].0.clone();
        let module = self.found.modules.entry(path).or_default();
        module.file.clone_from(&self.file);
        module
    }

    fn read(mut self, tokens: &[String]) -> Found {
        self.module();
        let token = |at: usize| tokens.get(at).map_or("", String::as_str);
        let mut at = 0;
        let mut is_test = false;
        while at < tokens.len() {
            match token(at) {
                "#" if token(at + 1) == "[" => {
                    let end = closing(tokens, at + 1);
                    is_test |= tokens[at..end].join("").starts_with("#[cfg(test)");
                    at = end;
                    continue;
                }
                "mod" if is_name(token(at + 1)) && ["{", ";"].contains(&token(at + 2)) => {
                    at = self.child(tokens, at, is_test);
                    is_test = false;
                    continue;
                }
                "use" => {
                    let is_handed_on = at > 0 && ["pub", ")"].contains(&token(at - 1));
                    at = self.imports(tokens, at + 1, Use::under(Vec::new(), is_handed_on));
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                    if is_name(token(at + 1)) =>
                {
                    let last = self.open[self.open.len() - 1].1;
                    if self.depth == last {
                        let name = token(at + 1).to_owned();
                        self.module().items.insert(name);
                    }
                    is_test = false;
                }
                "{" => self.depth += 1,
                "}" => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.open.len() > 1 && self.open[self.open.len() - 1].1 > self.depth {
                        self.open.pop();
                    }
                }
                name if is_name(name) && token(at + 1) == "::" => {
                    let mut path = vec![name.to_owned()];
                    while token(at + 1) == "::" && is_name(token(at + 2)) {
                        path.push(token(at + 2).to_owned());
                        at += 2;
                    }
                    if path.len() > 1 {
                        self.module().paths.insert(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.found
    }

    /// A module declared at `at`; returns where to go on.
    fn child(&mut self, tokens: &[String], at: usize, is_test: bool) -> usize {
        let name = tokens[at + 1].clone();
        let mut path = self.open[self.open.len() - 1].0.clone();
        path.push(name.clone());
        let is_test = is_test || name == "tests";
        self.module().children.insert(name);
        if is_test {
            self.found.tests.insert(path.clone());
        }
        if tokens[at + 2] == ";" {
            return at + 3;
        }
        if is_test {
            return closing(tokens, at + 2);
        }
        self.depth += 1;
        self.open.push((path, self.depth));
        self.module();
        at + 3
    }

    /// One tree of `use` from `at` on; returns the token behind it.
    fn imports(&mut self, tokens: &[String], mut at: usize, under: Use) -> usize {
        let Use { mut path, is_handed_on, name: _ } = under;
        loop {
            match tokens.get(at).map_or(";", String::as_str) {
                "::" => at += 1,
                "{" => {
                    at += 1;
                    while tokens[at] != "}" {
                        at = self.imports(tokens, at, Use::under(path.clone(), is_handed_on));
                        if tokens[at] == "," {
                            at += 1;
                        }
                    }
                    return at + 1;
                }
                "*" => {
                    self.module().uses.push(Use { path, name: None, is_handed_on });
                    return at + 1;
                }
                "as" => {
                    let name = Some(tokens[at + 1].clone());
                    self.module().uses.push(Use { path, name, is_handed_on });
                    return at + 2;
                }
                "," | ";" | "}" => {
                    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                        path.pop();
                    }
                    let name = path.last().cloned();
                    self.module().uses.push(Use { path, name, is_handed_on });
                    return at;
                }
                name => {
                    path.push(name.to_owned());
                    at += 1;
                }
            }
        }
    }
}

/// The token behind the bracket that closes the one at `at`.
fn closing(tokens: &[String], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "[" | "{" | "(" => depth += 1,
            "]" | "}" | ")" => {
                depth -= 1;
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and single signs; no comments, no literals.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' {
            // A lifetime is no literal: no quote follows its first letter.
            let mut after = rest[1..].chars();
            let (one, two) = (after.next(), after.next());
            if one == Some('\\') || two == Some('\'') { quoted(rest, '\'') } else { 1 }
        } else if is_name(rest) || first.is_ascii_digit() {
            let length =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Bytes of a raw string (of any kind) at the start of `text`.
fn raw_string(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    let body = inner[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(text.len() - body.len() + body.find(&end)? + end.len())
}

/// Bytes of a literal at the start of `text` that ends with an unescaped `quote`.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}
