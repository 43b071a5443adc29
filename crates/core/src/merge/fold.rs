//! The fold of rewrites over a payload: patches by top-level key, replacements of the whole, and
//! the right of a higher level to keep what it set.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::contract::Rewrites;
use crate::hook::Level;
use crate::json::{Fields, Json};
use crate::merge::{Merged, Note, NoteKind};
use crate::verdict::Rewrite;

/// The result that stands in place of one that is kept from the model.
pub fn withheld(reason: &str) -> Json {
    let content = if reason.is_empty() {
        "the result is withheld: a hook that must see it failed".to_owned()
    } else {
        format!("the result is withheld: {reason}")
    };
    Fields::from_iter([
        ("content", Json::string(&content)),
        ("is_error", Json::from(serde_json::Value::Bool(true))),
    ])
    .to_json()
}

/// Whether a rewrite has the shape that the payload of an event needs.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_shape(rewrite: &Rewrite, rewrites: Rewrites) -> Result<(), String> {
    let (fields, whole) = match rewrite {
        Rewrite::Patch(fields) => (fields.clone(), false),
        Rewrite::Replace(json) => match json.to_fields() {
            Some(fields) => (fields, true),
            None => {
                return Err(format!("a rewrite replaces an object, and this is `{}`", brief(json)));
            }
        },
    };
    if let Some(key) = fields.first_duplicate() {
        // Readers disagree about which of them counts.
        return Err(format!("the key `{key}` stands twice"));
    }
    let check = |key: &str, value: &Json| match (rewrites, key) {
        (Rewrites::ToolInput, _) => Ok(()),
        (Rewrites::Prompt, "prompt") | (Rewrites::Result, "content") => {
            if value.as_str().is_some() { Ok(()) } else { Err(format!("`{key}` is a text")) }
        }
        (Rewrites::Result, "is_error") => {
            if value.as_bool().is_some() {
                Ok(())
            } else {
                Err("`is_error` is true or false".to_owned())
            }
        }
        (Rewrites::Prompt, _) => Err(format!("a prompt has the key `prompt` and no key `{key}`")),
        (Rewrites::Result, _) => {
            Err(format!("a result has the keys `content` and `is_error` and no key `{key}`"))
        }
        (Rewrites::Nothing, _) => Err("nothing may be rewritten here".to_owned()),
    };
    fields.iter().try_for_each(|(key, value)| check(key, value))?;
    let needed = match rewrites {
        Rewrites::Prompt => Some("prompt"),
        Rewrites::Result => Some("content"),
        Rewrites::ToolInput | Rewrites::Nothing => None,
    };
    match needed {
        Some(key) if whole && fields.get(key).is_none() => {
            Err(format!("the key `{key}` is missing"))
        }
        _ => Ok(()),
    }
}

fn brief(json: &Json) -> String {
    let text = json.as_text();
    if text.chars().count() <= 40 {
        text.to_owned()
    } else {
        text.chars().take(40).chain(['…']).collect()
    }
}

/// Members by key. Of a key that stands twice the last counts, as it does for most readers.
fn indexed(fields: Fields) -> IndexMap<String, Json> {
    fields.into_iter().collect()
}

fn to_json(members: &IndexMap<String, Json>) -> Json {
    members.iter().map(|(key, value)| (key.as_str(), value.clone())).collect::<Fields>().to_json()
}

/// Who set something.
#[derive(Clone, Copy)]
struct Owner {
    voice: usize,
    level: Level,
}

impl Owner {
    /// A lower level does not change what a higher one set.
    fn outranks(self, level: Level) -> bool {
        self.level < level
    }
}

pub(super) struct Fold<'a> {
    original: &'a Json,
    rewrites: Rewrites,
    /// The payload so far; read from the original at the first rewrite.
    current: Option<IndexMap<String, Json>>,
    /// What stood at each key before the first patch of it; `None` for a key that is new.
    before: HashMap<String, Option<Json>>,
    /// Whether the original has a key twice, so that it cannot stay as it is.
    ambiguous: bool,
    /// Who set which key.
    keys: HashMap<String, Owner>,
    /// Who set the whole.
    whole: Option<Owner>,
    applied: Vec<usize>,
    notes: Vec<Note>,
}

impl<'a> Fold<'a> {
    pub(super) fn new(original: &'a Json, rewrites: Rewrites) -> Self {
        Self {
            original,
            rewrites,
            current: None,
            before: HashMap::new(),
            ambiguous: false,
            keys: HashMap::new(),
            whole: None,
            applied: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn apply(&mut self, voice: usize, level: Level, rewrite: &Rewrite) {
        if let Rewrite::Replace(json) = rewrite
            && json.is_null()
        {
            return; // The whole set to null is no change.
        }
        if let Err(why) = check_shape(rewrite, self.rewrites) {
            self.note(voice, NoteKind::ShapeRefused(why));
            return;
        }
        let me = Owner { voice, level };
        let applied = match rewrite {
            Rewrite::Patch(patch) => self.patch(me, patch),
            Rewrite::Replace(json) => self.replace(me, json),
        };
        if applied {
            self.applied.push(voice);
        }
    }

    /// Applies the first rewrite that can be, and says of the others that they are not.
    pub(super) fn apply_one<'r>(
        &mut self,
        rewrites: impl Iterator<Item = (usize, Level, &'r Rewrite)>,
    ) {
        for (voice, level, rewrite) in rewrites {
            match self.applied.first() {
                Some(of) => {
                    let of = *of;
                    self.note(voice, NoteKind::NotTheOne { of });
                }
                None => self.apply(voice, level, rewrite),
            }
        }
    }

    fn patch(&mut self, me: Owner, patch: &Fields) -> bool {
        let current = self.current.take().or_else(|| {
            let members = self.original.to_fields()?;
            let count = members.len();
            let members = indexed(members);
            self.ambiguous = members.len() < count;
            Some(members)
        });
        let Some(mut current) = current else {
            self.note(
                me.voice,
                NoteKind::ShapeRefused("the payload to patch is no object".to_owned()),
            );
            return false;
        };
        let mut applied = false;
        for (key, value) in patch.iter() {
            let old = current.get(key);
            let same = old.is_some_and(|old| old.same_value(value));
            let owner = self.owner_of(key);
            match owner {
                Some(owner) if owner.outranks(me.level) => {
                    // The same value is no quarrel, and stays the higher level's.
                    applied |= same;
                    if !same {
                        self.note(
                            me.voice,
                            NoteKind::KeyRefused { key: Some(key.to_owned()), by: owner.level },
                        );
                    }
                    continue;
                }
                Some(owner) if owner.level == me.level && old.is_some() && !same => {
                    self.note(
                        me.voice,
                        NoteKind::KeyOverwritten { key: Some(key.to_owned()), of: owner.voice },
                    );
                }
                _ => {}
            }
            let old = current.insert(key.to_owned(), value.clone());
            if self.whole.is_none() {
                self.before.entry(key.to_owned()).or_insert(old);
            }
            self.own(key, me);
            applied = true;
        }
        self.current = Some(current);
        applied
    }

    fn replace(&mut self, me: Owner, json: &Json) -> bool {
        let Some(mut next) = json.to_fields().map(indexed) else { return false };
        let is_current = |current: &Option<IndexMap<String, Json>>| {
            current.as_ref().is_some_and(|now| to_json(now).same_value(json))
        };
        if let Some(owner) = self.whole {
            let same = is_current(&self.current);
            if owner.outranks(me.level) {
                if !same {
                    self.note(me.voice, NoteKind::KeyRefused { key: None, by: owner.level });
                }
                return same;
            }
            if owner.level == me.level && !same {
                self.note(me.voice, NoteKind::KeyOverwritten { key: None, of: owner.voice });
            }
        }
        let current = self.current.take().unwrap_or_default();
        let mut keys: Vec<_> = std::mem::take(&mut self.keys).into_iter().collect();
        keys.sort_by_key(|(key, _)| current.get_index_of(key));
        for (key, owner) in keys {
            let kept = current.get(&key);
            let same = match (next.get(&key), kept) {
                (Some(new), Some(old)) => new.same_value(old),
                (None, None) => true,
                _ => false,
            };
            if owner.outranks(me.level) {
                if !same {
                    self.note(
                        me.voice,
                        NoteKind::KeyRefused { key: Some(key.clone()), by: owner.level },
                    );
                    if let Some(old) = kept {
                        next.insert(key.clone(), old.clone());
                    }
                }
                self.keys.insert(key, owner);
            } else if owner.level == me.level && !same {
                self.note(me.voice, NoteKind::KeyOverwritten { key: Some(key), of: owner.voice });
            }
        }
        self.current = Some(next);
        self.whole = Some(me);
        true
    }

    fn owner_of(&self, key: &str) -> Option<Owner> {
        self.keys.get(key).copied().or(self.whole)
    }

    fn own(&mut self, key: &str, me: Owner) {
        self.keys.insert(key.to_owned(), me);
    }

    fn note(&mut self, voice: usize, kind: NoteKind) {
        self.notes.push(Note { voice, kind });
    }

    pub(super) fn finish(self, merged: &mut Merged) {
        merged.notes.extend(self.notes);
        merged.applied = self.applied;
        let Some(mut fields) = self.current else { return };
        if self.rewrites == Rewrites::Result
            && !fields.contains_key("is_error")
            && let Some(kept) = self.original.get("is_error")
        {
            fields.insert("is_error".to_owned(), kept);
        }
        // A patch that sets what was there already changes nothing. Only the keys that were set
        // are looked at: a payload is large, and a patch is small.
        let changed = self.ambiguous
            || self.before.iter().any(|(key, before)| match (before, fields.get(key)) {
                (Some(before), Some(now)) => !before.same_value(now),
                (before, now) => before.is_some() != now.is_some(),
            });
        if self.whole.is_none() && !changed {
            return;
        }
        let json = to_json(&fields);
        if self.whole.is_none() || !json.same_value(self.original) {
            merged.payload = Some(json);
        }
    }
}
