//! The files that a patch in the envelope form changes.
//!
//! The form is a text between `*** Begin Patch` and `*** End Patch`, with a line for each file
//! (`*** Add File: a`, `*** Update File: a`, `*** Delete File: a`, and `*** Move to: b` below an
//! update). Owns which files a patch names; what it does to them is the tool's business.

/// What stands before the name of a file.
const HEADERS: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The files that a patch names, in its order; `None` if it is no patch in this form, or a line of
/// it may name a file in a way that is not known here.
pub(super) fn files_of(patch: &str) -> Option<Vec<String>> {
    let mut files = Vec::new();
    let mut inside = false;
    for line in patch.lines() {
        // Readers of this form forgive white space around the lines that steer it.
        let line = line.trim();
        if !line.starts_with("***") {
            continue;
        }
        match line {
            "*** Begin Patch" => inside = true,
            "*** End Patch" => inside = false,
            "*** End of File" => {}
            _ => {
                let named = HEADERS.iter().find_map(|header| line.strip_prefix(header));
                let file = named.map(str::trim).filter(|file| is_clear(file))?;
                if !inside {
                    return None;
                }
                files.push(file.to_owned());
            }
        }
    }
    (!files.is_empty()).then_some(files)
}

fn is_clear(file: &str) -> bool {
    !file.is_empty() && !file.contains(['\0', '\u{fffd}'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_file_of_a_patch_is_named_and_what_is_unclear_is_no_patch() {
        let files = |patch: &str| files_of(patch);
        let known = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
        for (patch, expected) in [
            ("*** Begin Patch\n*** Add File: a b.txt\n+x\n*** End Patch", known(&["a b.txt"])),
            (
                "*** Begin Patch\r\n*** Update File: a\r\n*** Move to: .env\r\n@@\r\n-x\r\n*** End Patch\r\n",
                known(&["a", ".env"]),
            ),
            (
                "  *** Begin Patch\n *** Delete File: a\n*** Update File: b\n*** End of File\n*** End Patch",
                known(&["a", "b"]),
            ),
            ("*** Begin Patch\n*** Rename File: a\n*** End Patch", None),
            ("*** Begin Patch\n*** Update File: \n*** End Patch", None),
            ("*** Update File: a\n", None),
            ("*** Begin Patch\n*** End Patch", None),
            ("--- a/x\n+++ b/x\n", None),
            ("", None),
        ] {
            assert_eq!(files(patch), expected, "{patch:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\*\\*\\* |Begin Patch|Add File: |a|\n|\\s){0,12}") {
            let _ = files_of(&text);
        }
    }
}
