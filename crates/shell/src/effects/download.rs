//! Programs that fetch and send files: `curl`, `wget`, `aria2c`.
//!
//! Owns: how a file gets its name from an address. Does not own: what an address is.

use super::reader::{Operands, Role, Spec, read};
use super::{Uses, joined};
use crate::word::{Piece, Word};
use Role::{Flag, Folder, Note, Read as In, Text, Value, Write as Out};

const CURL: Spec = Spec::of(Operands::None)
    .short(&[
        ("o", Role::Edit),
        ("O", Note('O')),
        ("Dc", Out),
        ("TKE", In),
        ("b", Role::Guess),
        ("dFHw", Text),
        ("AChmPQrtuUxXyYez", Value),
    ])
    .long(&[
        ("output", Role::Edit),
        ("output-dir", Folder),
        ("remote-name remote-name-all", Note('O')),
        ("remote-time remote-header-name compressed", Flag),
        ("dump-header cookie-jar trace trace-ascii stderr etag-save libcurl hsts alt-svc", Out),
        ("upload-file config cert key cacert netrc-file etag-compare pubkey proxy-cacert", In),
        ("proxy-cert proxy-key capath crlfile", In),
        ("cookie", Role::Guess),
        ("data data-ascii data-binary data-urlencode form json header write-out", Text),
        ("proxy-header url-query variable", Text),
        ("data-raw form-string request user user-agent referer url max-time proxy", Value),
        ("connect-timeout retry range limit-rate resolve cert-type key-type", Value),
        ("create-dirs trace-time cert-status", Flag),
    ]);

pub(super) fn curl(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let found = read(&CURL, args);
    let folder = found.of(Folder).next();
    for (role, value) in &found.values {
        match role {
            Role::Edit => put(uses, folder, value),
            Out => uses.write(value),
            In => uses.read(value),
            // A cookie, or a file of them.
            Role::Guess if !value.known_prefix().contains('=') => uses.read(value),
            Text => {
                uses.text(value);
                // `-w '%output{file}'`
                if value.known_prefix().contains("%output{") {
                    uses.write_any();
                }
            }
            _ => {}
        }
    }
    for url in &found.operands {
        if let Some(rest) = url.known_prefix().strip_prefix("file://") {
            let host = rest.find('/').unwrap_or(rest.len());
            uses.read(&url.without_prefix("file://".len() + host));
        }
        if found.has('O') {
            put_by_name(uses, folder, url);
        }
    }
}

const WGET: Spec = Spec::of(Operands::None)
    .short(&[
        ("O", Role::Edit),
        ("oa", Out),
        ("P", Folder),
        ("i", In),
        ("tTwQeUBARDIXl", Value),
        ("r", Note('r')),
        ("m", Note('r')),
    ])
    .long(&[
        ("output-document", Role::Edit),
        ("output-file append-output save-cookies warc-file rejected-log hsts-file", Out),
        ("directory-prefix", Folder),
        ("input-file post-file body-file load-cookies ca-certificate certificate", In),
        ("private-key config", In),
        ("spider", Role::Keeps),
        ("recursive mirror", Note('r')),
        ("header user password user-agent referer method timeout tries wait execute", Value),
        ("post-data body-data level accept reject domains", Value),
    ]);

pub(super) fn wget(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let found = read(&WGET, args);
    let folder = found.of(Folder).next();
    let mut named = found.keeps;
    for (role, value) in &found.values {
        match role {
            Role::Edit => {
                named = true;
                uses.write(value);
            }
            Out | Folder => uses.write(value),
            In => uses.read(value),
            _ => {}
        }
    }
    if named {
        return;
    }
    if found.has('r') || found.of(In).next().is_some() && found.operands.is_empty() {
        uses.write_any();
    }
    for url in &found.operands {
        put_by_name(uses, folder, url);
    }
}

const ARIA2C: Spec = Spec::of(Operands::None)
    .short(&[("o", Role::Edit), ("d", Folder), ("l", Out), ("i", In), ("jsxkm", Value)])
    .long(&[
        ("out", Role::Edit),
        ("dir", Folder),
        ("log save-session save-cookies", Out),
        ("input-file load-cookies conf-path certificate private-key", In),
        ("header split max-connection-per-server", Value),
    ]);

pub(super) fn aria2c(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let found = read(&ARIA2C, args);
    let folder = found.of(Folder).next();
    let mut named = false;
    for (role, value) in &found.values {
        match role {
            Role::Edit => {
                named = true;
                put(uses, folder, value);
            }
            Out | Folder => uses.write(value),
            In => uses.read(value),
            _ => {}
        }
    }
    if !named {
        for url in &found.operands {
            put_by_name(uses, folder, url);
        }
    }
}

fn put(uses: &mut Uses<'_, '_>, folder: Option<&Word>, path: &Word) {
    match folder {
        // Even an absolute path is put behind the folder.
        Some(folder) if path.literal() != Some("-") => {
            let slash = [Piece::Text("/".to_owned())];
            uses.write(&joined(folder.pieces().into_iter().chain(slash).chain(path.pieces())));
        }
        _ => uses.write(path),
    }
}

/// Writes the file that an address names.
fn put_by_name(uses: &mut Uses<'_, '_>, folder: Option<&Word>, url: &Word) {
    let known = !url.pieces().iter().any(|piece| matches!(piece, Piece::Any | Piece::Pipe));
    let name = known.then(|| url.to_string()).map(|text| {
        let path = text.split(['?', '#']).next().unwrap_or(&text);
        path.rsplit('/').next().unwrap_or(path).to_owned()
    });
    match name {
        Some(name) if !name.is_empty() => put(uses, folder, &Word::Literal(name)),
        _ => uses.write_any(),
    }
}
