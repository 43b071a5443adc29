//! A host's tools under the names that rules use, and the shapes of their inputs there and here.
//!
//! Both ways are exact: what a row does not speak of keeps its key and its bytes, and what a hook did
//! not change is not written anew.

use tenter_core::json::{Fields, Json};

/// How one key of a tool's input is called, there and here.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// One value under two names: the host's, and the canonical one.
    Key(&'static str, &'static str),
    /// There a list of texts, here their lines in one text.
    Lines(&'static str, &'static str),
    /// There a list of objects that hold a text each; here the text where there is one, else the list
    /// of the texts under another key.
    Items {
        /// The host's key of the list.
        own: &'static str,
        /// The key of the text in each object.
        item: &'static str,
        /// The canonical key of one text.
        one: &'static str,
        /// The canonical key of several texts.
        many: &'static str,
    },
}

impl Shape {
    const fn own(self) -> &'static str {
        match self {
            Self::Key(own, _) | Self::Lines(own, _) | Self::Items { own, .. } => own,
        }
    }

    fn is_called(self, key: &str) -> bool {
        match self {
            Self::Key(_, name) | Self::Lines(_, name) => name == key,
            Self::Items { one, many, .. } => one == key || many == key,
        }
    }

    /// The canonical key and value of a host's value; `None` if it has not the shape.
    fn read(self, value: &Json) -> Option<(&'static str, Json)> {
        match self {
            Self::Key(_, name) => Some((name, value.clone())),
            Self::Lines(_, name) => {
                let lines: Vec<String> = serde_json::from_str(value.as_text()).ok()?;
                Some((name, Json::string(&lines.join("\n"))))
            }
            Self::Items { item, one, many, .. } => {
                let items: Vec<Json> = serde_json::from_str(value.as_text()).ok()?;
                let texts: Option<Vec<Json>> = items.iter().map(|one| one.get(item)).collect();
                match texts?.as_slice() {
                    [text] => Some((one, text.clone())),
                    texts => Some((many, Json::from_serialize(&texts))),
                }
            }
        }
    }

    /// The host's value of a canonical one, with what else stood in `before`.
    fn write(self, value: &Json, before: Option<&Json>) -> Option<Json> {
        match self {
            Self::Key(..) => Some(value.clone()),
            Self::Lines(..) => Some(Json::from_serialize(&[value.as_str()?])),
            Self::Items { item, .. } => {
                let texts: Vec<Json> = if value.as_text().starts_with('[') {
                    serde_json::from_str(value.as_text()).ok()?
                } else {
                    vec![value.clone()]
                };
                let old: Vec<Json> = before
                    .and_then(|before| serde_json::from_str(before.as_text()).ok())
                    .unwrap_or_default();
                let same = old.len() == texts.len();
                let items = texts.into_iter().enumerate().map(|(at, text)| {
                    let kept = old.get(at).filter(|_| same).and_then(Json::to_fields);
                    let mut fields = kept.unwrap_or_default();
                    fields.set(item, text);
                    fields.to_json()
                });
                Some(Json::from_serialize(&items.collect::<Vec<_>>()))
            }
        }
    }
}

/// A tool of a host.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow {
    /// The host's name.
    pub own: &'static str,
    /// A key of the input and its value, where one name stands for several tools.
    pub when: Option<(&'static str, &'static str)>,
    /// The name that rules use.
    pub canonical: &'static str,
    /// The keys of the input that are called otherwise.
    pub shapes: &'static [Shape],
}

impl ToolRow {
    /// A tool, with the keys of its input that are called otherwise.
    pub const fn new(own: &'static str, canonical: &'static str, shapes: &'static [Shape]) -> Self {
        Self { own, when: None, canonical, shapes }
    }

    /// The same, where a key of the input has this value.
    #[must_use]
    pub const fn when(mut self, key: &'static str, value: &'static str) -> Self {
        self.when = Some((key, value));
        self
    }

    /// The canonical input. What has not the shape that is expected stays as it is, so that rules
    /// find it unreadable instead of empty.
    pub fn read(&self, input: &Json) -> Json {
        let Some(fields) = input.to_fields().filter(|_| !self.shapes.is_empty()) else {
            return input.clone();
        };
        let named = fields.iter().map(|(key, value)| {
            let shape = self.shapes.iter().find(|shape| shape.own() == key);
            match shape.and_then(|shape| shape.read(value)) {
                Some((name, value)) => (name.to_owned(), value),
                None => (key.to_owned(), value.clone()),
            }
        });
        named.collect::<Fields>().to_json()
    }

    /// The host's input for a canonical one that was `before` and is `after`; `None` if it cannot be
    /// said in the host's shape.
    pub fn write(&self, own: &Json, before: &Json, after: &Json) -> Option<Json> {
        let (Some(before), Some(after)) = (before.to_fields(), after.to_fields()) else {
            return Some(after.clone());
        };
        if after.first_duplicate().is_some() {
            return None;
        }
        let mut fields = own.to_fields()?;
        let has = |key: &str| own.get(key).is_some();
        // Some versions of a host use the canonical key themselves.
        let name_of = |key: &str| {
            let shapes = || self.shapes.iter().filter(|shape| shape.is_called(key));
            let shape = shapes()
                .find(|shape| has(shape.own()))
                .or_else(|| shapes().next().filter(|_| !has(key)));
            (shape, shape.map_or_else(|| key.to_owned(), |shape| shape.own().to_owned()))
        };
        for (key, _) in before.iter().filter(|(key, _)| after.get(key).is_none()) {
            fields.remove(&name_of(key).1);
        }
        for (key, value) in after.iter().filter(|(key, value)| before.get(key) != Some(value)) {
            let (shape, name) = name_of(key);
            let value = match shape {
                Some(shape) => shape.write(value, own.get(&name).as_ref())?,
                // A key that means something else to the host than to the hook.
                None if self.shapes.iter().any(|shape| shape.own() == key) => return None,
                None => value.clone(),
            };
            fields.set(name, value);
        }
        Some(fields.to_json())
    }
}

/// How a host names the tools of a tool server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpName {
    /// `mcp__server__tool`.
    Standard,
    /// `mcp_server_tool`: where a name has an underscore, nothing tells where the server's ends.
    Single,
    /// Server and tool with this between them.
    Between(&'static str),
    /// This, and the name of the tool alone.
    ToolAfter(&'static str),
}

/// The tools of a host.
#[derive(Debug, Clone, Copy)]
pub struct Tools {
    /// Those that have a canonical name.
    pub rows: &'static [ToolRow],
    /// Those of tool servers.
    pub mcp: McpName,
}

impl Tools {
    /// The row of a tool with this input.
    pub fn row(&self, own: &str, input: &Json) -> Option<&'static ToolRow> {
        self.rows.iter().find(|row| {
            row.own == own
                && row.when.is_none_or(|(key, value)| {
                    input.get(key).is_some_and(|found| found.as_str().as_deref() == Some(value))
                })
        })
    }

    /// The canonical name of a tool of a tool server; `None` if it is none, or if its parts cannot be
    /// told. `server` is its server's name where the payload says it.
    pub fn mcp_name(&self, own: &str, server: Option<&str>) -> Option<String> {
        let standard = |server: &str, tool: &str| format!("mcp__{server}__{tool}");
        let two = |text: &str, separator: &str| {
            let (server, tool) = text.split_once(separator)?;
            let clear = !server.is_empty() && !tool.is_empty() && !tool.contains(separator);
            clear.then(|| standard(server, tool))
        };
        match self.mcp {
            McpName::Standard => None,
            McpName::Single => {
                let rest = own.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_'))?;
                match server {
                    Some(server) => {
                        let tool = rest.strip_prefix(server)?.strip_prefix('_')?;
                        Some(standard(server, tool))
                    }
                    None => two(rest, "_"),
                }
            }
            McpName::Between(separator) => two(own, separator),
            McpName::ToolAfter(prefix) => {
                let tool = own.strip_prefix(prefix)?;
                server.map(|server| standard(server, tool))
            }
        }
    }
}
