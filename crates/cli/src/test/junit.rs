//! Results as JUnit XML, in the part of it that every CI server reads: a suite for each file, a case
//! for each case, and for each that is not as expected a failure with a text.

use std::fmt::Write as _;
use std::time::Duration;

use super::case::{Problem, Verdict};
use super::find::Loaded;
use super::json::status;
use super::run::{CaseResult, Results};

/// The results as XML. A file that is not valid is a suite with one error.
pub(crate) fn draw(results: &Results, took: Duration) -> String {
    let invalid = results.files().iter().filter(|loaded| loaded.is_invalid()).count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let tests = results.iter().count() + invalid;
    let head = attributes(tests, results.failed(), invalid, results.unfinished());
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "<testsuites name=\"tenter test\"{head} time=\"{}\">", seconds(took));
    for loaded in results.files() {
        suite(&mut out, loaded, results);
    }
    out.push_str("</testsuites>\n");
    out
}

fn attributes(tests: usize, failures: usize, errors: usize, skipped: usize) -> String {
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

fn suite(out: &mut String, loaded: &Loaded, results: &Results) {
    let name = escaped(&loaded.name);
    if loaded.is_invalid() {
        let mut said = String::new();
        for (one, _) in &loaded.findings {
            let at = one.position.as_ref();
            let place = at.map(|at| format!("{}:{}:{}: ", at.file, at.line, at.column));
            let _ = writeln!(said, "{}{}", place.unwrap_or_default(), one.message);
        }
        let _ = writeln!(out, "  <testsuite name=\"{name}\"{}>", attributes(1, 0, 1, 0));
        let _ = writeln!(out, "    <testcase classname=\"{name}\" name=\"the file is valid\">");
        let said = escaped(&said);
        let _ = writeln!(out, "      <error message=\"the file is not valid\">{said}</error>");
        out.push_str("    </testcase>\n  </testsuite>\n");
        return;
    }
    let cases: Vec<_> = results.iter().filter(|result| result.file == loaded.name).collect();
    if cases.is_empty() {
        return;
    }
    let with = |word| cases.iter().filter(|result| status(result.verdict) == word).count();
    let time: Duration = cases.iter().filter_map(|result| Some(result.verdict?.duration)).sum();
    let head = attributes(cases.len(), with("failed"), 0, with("unfinished"));
    let _ = writeln!(out, "  <testsuite name=\"{name}\"{head} time=\"{}\">", seconds(time));
    for result in cases {
        case(out, &result);
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, result: &CaseResult<'_>) {
    let (file, name) = (escaped(result.file), escaped(result.name));
    let time = seconds(result.verdict.map(|verdict| verdict.duration).unwrap_or_default());
    let _ = write!(
        out,
        "    <testcase classname=\"{file}\" name=\"{name}\" file=\"{file}\" line=\"{}\" time=\"{time}\"",
        result.line
    );
    match (status(result.verdict), result.verdict) {
        ("failed", Some(verdict)) => {
            let said = said(result, verdict);
            let first = said.lines().nth(1).unwrap_or_default().trim();
            let (first, said) = (escaped(first), escaped(&said));
            let _ = writeln!(out, ">\n      <failure message=\"{first}\">{said}</failure>");
            out.push_str("    </testcase>\n");
        }
        ("unfinished", _) => {
            out.push_str(">\n      <skipped message=\"the run was ended\"/>\n    </testcase>\n");
        }
        _ => out.push_str("/>\n"),
    }
}

fn said(result: &CaseResult<'_>, verdict: &Verdict) -> String {
    let mut said = format!("{}:{}\n", result.file, result.line);
    for problem in &verdict.problems {
        let _ = match problem {
            Problem::Mismatch { step, mismatch, .. } => writeln!(
                said,
                "{}{}: expected {}, actual {}",
                step.map(|step| format!("step {step}: ")).unwrap_or_default(),
                mismatch.path,
                mismatch.expected,
                mismatch.actual
            ),
            Problem::TooSlow { most, took, .. } => {
                writeln!(said, "max_ms: expected at most {most} ms, actual {} ms", took.as_millis())
            }
            Problem::After { command, expected, actual, output, .. } => writeln!(
                said,
                "after `{command}`: expected exit {expected}, actual {actual}\n{output}"
            ),
            Problem::Setup(why) => writeln!(said, "the case cannot run: {why}"),
            Problem::Bug(why) => writeln!(said, "a bug in tenter: {why}"),
        };
    }
    for hook in &verdict.failed_hooks {
        let _ = writeln!(
            said,
            "hook `{}` failed ({}): {}\n{}",
            hook.name, hook.failure, hook.reason, hook.stderr
        );
    }
    said
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// A text in XML. Characters that XML has no way to write are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(
            escaped("a<b> & \"c\"\n\u{1b}[0m"),
            "a&lt;b&gt; &amp; &quot;c&quot;\n\u{fffd}[0m"
        );
    }
}
