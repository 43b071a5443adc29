//! Where a command may begin, and the reserved words there: how deep compound commands nest.

use super::{Kind, Lexer, Lexes, MAX_CASES, MAX_COMPOUND, Opener, Refused, Token, is_assignment};

impl Lexer<'_> {
    /// Whether the next word would be a command's first word, or reserved. `for_arithmetic` also
    /// accepts the place behind `for`.
    pub(super) fn command_position(&self, for_arithmetic: bool) -> bool {
        let before = self.before_redirections();
        let tokens = self.tokens.get(..before).unwrap_or_default();
        let Some(last) = tokens.last() else { return true };
        match last.kind {
            Kind::Operator => !last.text.starts_with(['<', '>']) && !last.text.starts_with("&>"),
            Kind::Word if !last.first => {
                // `case WORD in`, `for NAME do`, `function NAME {`, `coproc NAME {`.
                let opener = tokens.iter().nth_back(1);
                let before = tokens.iter().nth_back(2);
                let opens = |token: Option<&Token>, words: &[&str]| {
                    token.is_some_and(|token| token.first && words.contains(&token.text.as_str()))
                };
                (last.text == "in" && opens(before, &["case"]))
                    || opens(opener, &["for", "function", "coproc"])
            }
            Kind::Word => {
                matches!(
                    last.text.as_str(),
                    "!" | "{"
                        | "}"
                        | "do"
                        | "done"
                        | "elif"
                        | "else"
                        | "esac"
                        | "fi"
                        | "if"
                        | "then"
                        | "until"
                        | "while"
                        | "time"
                        | "-p"
                        | "--"
                        | "coproc"
                ) || is_assignment(last.text.as_bytes())
                    || (for_arithmetic && last.text == "for")
            }
        }
    }

    /// How many tokens stand before the redirections at the end: a command's first word may follow
    /// redirections.
    pub(super) fn before_redirections(&self) -> usize {
        let redirects = |token: &Token| {
            token.kind == Kind::Operator
                && (token.text.starts_with(['<', '>']) || token.text.starts_with("&>"))
        };
        let mut end = self.tokens.len();
        while let Some([operator, target]) =
            end.checked_sub(2).and_then(|at| self.tokens.get(at..end))
        {
            if target.kind != Kind::Word || !redirects(operator) {
                break;
            }
            end -= 2;
            let number = end.checked_sub(1).and_then(|at| self.tokens.get(at));
            if number.is_some_and(|number| {
                number.end == operator.start
                    && number.text.bytes().all(|byte| byte.is_ascii_digit())
            }) {
                end -= 1;
            }
        }
        end
    }

    pub(super) fn open(&mut self, opener: Opener) -> Lexes<()> {
        self.nest.push(opener);
        self.deepest = self.deepest.max(self.nest.len() + self.coprocesses);
        let cases = self.nest.iter().filter(|open| **open == Opener::Case).count();
        if self.nest.len() > MAX_COMPOUND || cases > MAX_CASES {
            return Err(Refused::TooDeep);
        }
        Ok(())
    }

    pub(super) fn reserved(&mut self, text: &str) -> Lexes<()> {
        match text {
            "if" => self.open(Opener::If)?,
            "case" => self.open(Opener::Case)?,
            "while" | "until" | "for" | "select" => self.open(Opener::Loop)?,
            "{" => self.open(Opener::Brace)?,
            "do" => self.open(Opener::Do)?,
            "coproc" => {
                self.coprocesses += 1;
                if self.coprocesses > MAX_CASES {
                    return Err(Refused::TooDeep);
                }
            }
            "[[" => self.in_test = true,
            "fi" => self.close(Opener::If),
            "esac" => self.close(Opener::Case),
            "}" => self.close(Opener::Brace),
            "done" => {
                self.close(Opener::Do);
                self.close(Opener::Loop);
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn close(&mut self, opener: Opener) {
        if self.nest.last() == Some(&opener) {
            self.nest.pop();
        }
    }

    /// Words that say nothing about what runs, where the grammar would misread them: `time` behind
    /// `!`, with its options, and the `--` behind any `time`.
    pub(super) fn passed_over(&mut self, text: &str, first: bool) -> bool {
        let last = self.tokens.last().map(|token| token.text.as_str());
        if text == "time" && first && last == Some("!") {
            self.timed = true;
            return true;
        }
        let option = std::mem::take(&mut self.timed) && matches!(text, "-p" | "--");
        self.timed = option;
        option || (text == "--" && first && matches!(last, Some("time" | "-p")))
    }
}
