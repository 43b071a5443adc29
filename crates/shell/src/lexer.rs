//! Cuts a shell text into tokens, in one pass and without recursion that the text could drive
//! beyond a bound.
//!
//! Owns: quoting, here-documents, line continuations, where a substitution ends, and how deep the
//! text nests. It keeps the text of a substitution as it stands; whoever needs what is inside runs
//! the lexer again on that part. Does not own: grammar, expansion, meaning.

/// How deep substitutions may nest inside one another before the lexer gives up. Its own frames
/// are small, so this fits any stack.
const MAX_NESTED_TEXT: usize = 64;

/// How deep compound commands may nest in one text.
const MAX_COMPOUND: usize = 256;

/// The grammar parses the last branch of a `case` twice, so nested ones double each time.
const MAX_CASES: usize = 6;

/// How often all nested scans of one text together may pass each of its bytes, on average: once for
/// every level that they may nest. Texts that are read in two ways at each level reach it soon.
const MAX_SCANS: usize = MAX_NESTED_TEXT;

/// What a short text may cost in any case, in bytes.
const LEAST_SCANNED: usize = 4 << 10;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Operator,
}

/// A token with its text free of line continuations, and the bytes it came from.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// It stood where a command may begin.
    first: bool,
}

/// What the lexer found.
#[derive(Debug)]
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    /// An upper bound of how deep compound commands nest in these tokens.
    pub(crate) depth: usize,
    /// The variables of `{name}>file`, and where each stands.
    pub(crate) descriptors: Vec<(String, usize, usize)>,
}

/// Why a text cannot be cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A quote, substitution or here-document does not end, or the text is ambiguous.
    Syntax,
    /// Nested deeper than the bound.
    TooDeep,
    /// Valid in bash, but not something this crate reads.
    Unsupported,
}

mod here;
mod parts;
mod reserved;

type Lexes<T> = Result<T, Refused>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opener {
    Paren,
    Brace,
    If,
    Case,
    Loop,
    Do,
}

#[derive(Debug)]
struct HereDoc {
    delimiter: Vec<u8>,
    quoted: bool,
    strip_tabs: bool,
    /// Where the tokens of body and closing tag go.
    at: usize,
}

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    CloseParen,
}

/// Cuts a whole text into tokens.
///
/// # Errors
/// When a quote, substitution or here-document does not end, when it nests too deep, or when bash
/// would read it in a way this lexer does not.
pub(crate) fn lex(text: &str) -> Lexes<Lexed> {
    let mut lexer = Lexer::new(text.as_bytes(), 0, 0);
    lexer.program(Until::End)?;
    Ok(Lexed { tokens: lexer.tokens, depth: lexer.deepest, descriptors: lexer.descriptors })
}

/// The offset just behind the `)` that closes the substitution whose first inner byte is at
/// `start`.
///
/// # Errors
/// As [`lex`].
pub(crate) fn end_of_substitution(text: &[u8], start: usize) -> Lexes<usize> {
    Lexer::new(text, start, 1).nested_end(start)
}

/// The offset just behind the `))` of an arithmetic expansion or command whose first inner byte is
/// at `start`; `None` when the parentheses do not close that way, so that it is a nested subshell.
///
/// # Errors
/// As [`lex`].
pub(crate) fn end_of_arithmetic(text: &[u8], start: usize) -> Lexes<Option<usize>> {
    Lexer::new(text, start, 1).arithmetic_end(start)
}

/// The offset just behind the closing brace of a parameter expansion whose first inner byte is at
/// `start`.
///
/// # Errors
/// As [`lex`].
pub(crate) fn end_of_parameter(text: &[u8], start: usize, in_quotes: bool) -> Lexes<usize> {
    let mut lexer = Lexer::new(text, start, 1);
    let mut sink = Vec::new();
    lexer.parameter(in_quotes, &mut sink)?;
    Ok(lexer.pos)
}

/// The offset just behind the `]` of a subscript whose first inner byte is at `start`.
///
/// # Errors
/// As [`lex`].
pub(crate) fn end_of_bracketed(text: &[u8], start: usize) -> Lexes<usize> {
    let mut lexer = Lexer::new(text, start, 1);
    lexer.bracketed(&mut Vec::new())?;
    Ok(lexer.pos)
}

/// The offset just behind the closing backquote.
///
/// # Errors
/// As [`lex`].
pub(crate) fn end_of_backquote(text: &[u8], start: usize) -> Lexes<usize> {
    let mut at = start;
    loop {
        match text.get(at) {
            None => return Err(Refused::Syntax),
            Some(b'\\') => at += 2,
            Some(b'`') => return Ok(at + 1),
            Some(_) => at += 1,
        }
    }
}

struct Lexer<'a> {
    src: &'a [u8],
    pos: usize,
    level: usize,
    tokens: Vec<Token>,
    nest: Vec<Opener>,
    deepest: usize,
    descriptors: Vec<(String, usize, usize)>,
    coprocesses: usize,
    /// Bytes passed by the scans nested in this one.
    scanned: usize,
    pending: Vec<HereDoc>,
    /// Within `[[ … ]]`, where extended globs are always on.
    in_test: bool,
    /// A `time` behind `!` was passed over just now.
    timed: bool,
    /// The current simple command declares variables, so its arguments may be array elements.
    declares: bool,
}

impl<'a> Lexer<'a> {
    fn new(src: &'a [u8], pos: usize, level: usize) -> Self {
        Self {
            src,
            pos,
            level,
            tokens: Vec::new(),
            nest: Vec::new(),
            deepest: 0,
            descriptors: Vec::new(),
            coprocesses: 0,
            scanned: 0,
            pending: Vec::new(),
            in_test: false,
            timed: false,
            declares: false,
        }
    }

    fn child(&self, start: usize) -> Lexes<Self> {
        if self.level >= MAX_NESTED_TEXT {
            return Err(Refused::TooDeep);
        }
        let mut child = Self::new(self.src, start, self.level + 1);
        child.scanned = self.scanned;
        Ok(child)
    }

    fn passed(&mut self, child: &Self, start: usize) -> Lexes<()> {
        self.scanned = child.scanned + (child.pos - start);
        let most = LEAST_SCANNED + MAX_SCANS * self.src.len();
        if self.scanned > most { Err(Refused::TooDeep) } else { Ok(()) }
    }

    /// The offset behind the `)` that closes the program which begins at `start`.
    fn nested_end(&mut self, start: usize) -> Lexes<usize> {
        let mut child = self.child(start)?;
        child.program(Until::CloseParen)?;
        self.passed(&child, start)?;
        Ok(child.pos)
    }

    /// The offset behind the `))` that closes the expression which begins at `start`, if it does
    /// close that way.
    fn arithmetic_end(&mut self, start: usize) -> Lexes<Option<usize>> {
        let mut child = self.child(start)?;
        let closed = child.expression(&mut Vec::new())?;
        self.passed(&child, start)?;
        Ok(closed.then_some(child.pos))
    }

    /// Takes an arithmetic expression with both closing parentheses; `false` if the first closing
    /// one is not followed by the second.
    fn expression(&mut self, out: &mut Vec<u8>) -> Lexes<bool> {
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek() else { return Err(Refused::Syntax) };
            match byte {
                b'(' => {
                    depth += 1;
                    self.take(out);
                }
                b')' if depth == 0 => {
                    self.take(out);
                    let closed = self.peek() == Some(b')');
                    self.take(out);
                    return Ok(closed);
                }
                b')' => {
                    depth -= 1;
                    self.take(out);
                }
                _ => self.word_part(byte, out)?,
            }
        }
    }

    /// The next byte, with line continuations passed over.
    fn peek(&mut self) -> Option<u8> {
        while self.src.get(self.pos) == Some(&b'\\') && self.src.get(self.pos + 1) == Some(&b'\n') {
            self.pos += 2;
        }
        self.src.get(self.pos).copied()
    }

    /// The byte behind the next one, with line continuations passed over.
    fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        let mut at = self.pos + 1;
        while self.src.get(at) == Some(&b'\\') && self.src.get(at + 1) == Some(&b'\n') {
            at += 2;
        }
        self.src.get(at).copied()
    }

    /// Moves the next byte to `out`.
    fn take(&mut self, out: &mut Vec<u8>) {
        if let Some(&byte) = self.src.get(self.pos) {
            out.push(byte);
            self.pos += 1;
        }
    }

    fn take_to(&mut self, end: usize, out: &mut Vec<u8>) {
        if let Some(part) = self.src.get(self.pos..end) {
            out.extend_from_slice(part);
        }
        self.pos = end;
    }

    fn program(&mut self, until: Until) -> Lexes<()> {
        loop {
            let Some(byte) = self.peek() else {
                if until == Until::CloseParen || !self.pending.is_empty() {
                    return Err(Refused::Syntax);
                }
                return Ok(());
            };
            match byte {
                b' ' | b'\t' => self.pos += 1,
                b'#' => {
                    while self.src.get(self.pos).is_some_and(|byte| *byte != b'\n') {
                        self.pos += 1;
                    }
                }
                b'\n' => {
                    let start = self.pos;
                    self.pos += 1;
                    self.push_operator("\n", start);
                    self.here_bodies()?;
                }
                b'<' | b'>' if self.peek_second() == Some(b'(') => self.word()?,
                b')' if until == Until::CloseParen && self.nest.is_empty() => {
                    if !self.pending.is_empty() {
                        return Err(Refused::Syntax);
                    }
                    self.pos += 1;
                    return Ok(());
                }
                b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')' => self.operator(byte)?,
                _ => self.word()?,
            }
        }
    }

    fn push_operator(&mut self, text: &str, start: usize) {
        if matches!(text, "\n" | ";" | "&" | "&&" | "||" | "|" | "|&" | "(" | ";;" | ";&" | ";;&") {
            self.declares = false;
        }
        self.tokens.push(Token {
            kind: Kind::Operator,
            text: text.to_owned(),
            start,
            end: self.pos,
            first: false,
        });
    }

    fn operator(&mut self, first: u8) -> Lexes<()> {
        let start = self.pos;
        if first == b'(' {
            if self.peek_second() == Some(b'(') && !self.in_test && self.command_position(true) {
                let mut sink = Vec::new();
                self.take(&mut sink);
                self.peek();
                self.take(&mut sink);
                let inner = self.pos;
                if let Some(end) = self.arithmetic_end(inner)? {
                    return self.arithmetic_tokens(start, inner, end);
                }
                let end = self.nested_end(start + 1)?;
                self.no_here_document_in(start, end)?;
                self.pos = start;
            }
            self.pos += 1;
            // The grammar takes two parentheses in a row for arithmetic even where bash does not:
            // a newline between them says that they are two subshells.
            let doubled = self
                .tokens
                .last()
                .is_some_and(|token| token.kind == Kind::Operator && token.text == "(");
            if doubled && !self.in_test {
                self.push_operator("\n", start);
            }
            self.push_operator("(", start);
            self.open(Opener::Paren)?;
            return Ok(());
        }
        if first == b')' {
            self.pos += 1;
            if self.nest.last() == Some(&Opener::Paren) {
                self.nest.pop();
            }
            self.push_operator(")", start);
            return Ok(());
        }
        self.pos += 1;
        let second = self.peek();
        let text = match (first, second) {
            (b'&', Some(b'&')) => "&&",
            (b'&', Some(b'>')) => "&>",
            (b'&', _) => "&",
            (b'|', Some(b'|')) => "||",
            (b'|', Some(b'&')) => "|&",
            (b'|', _) => "|",
            (b';', Some(b';')) => ";;",
            (b';', Some(b'&')) => ";&",
            (b';', _) => ";",
            (b'<', Some(b'<')) => "<<",
            (b'<', Some(b'&')) => "<&",
            (b'<', Some(b'>')) => "<>",
            (b'<', _) => "<",
            (b'>', Some(b'>')) => ">>",
            (b'>', Some(b'&')) => ">&",
            (b'>', Some(b'|')) => ">|",
            _ => ">",
        };
        if text.len() == 2 {
            self.pos += 1;
        }
        let text = match (text, if text.len() == 2 { self.peek() } else { None }) {
            ("&>", Some(b'>')) => "&>>",
            (";;", Some(b'&')) => ";;&",
            ("<<", Some(b'<')) => "<<<",
            ("<<", Some(b'-')) => "<<-",
            (text, _) => text,
        };
        if text.len() == 3 {
            self.pos += 1;
        }
        self.push_operator(text, start);
        if text == "<<" || text == "<<-" {
            self.here_tag(text == "<<-")?;
        }
        Ok(())
    }

    /// `((…))`: the expression becomes one word, apart from the semicolons of a `for`.
    fn arithmetic_tokens(&mut self, start: usize, inner: usize, end: usize) -> Lexes<()> {
        // Both parentheses may have continuations between them; the span is what matters.
        self.pos = inner;
        self.push_operator("(", start);
        self.push_operator("(", start);
        let mut word = Vec::new();
        let mut from = inner;
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek() else { return Err(Refused::Syntax) };
            match byte {
                b'(' => {
                    depth += 1;
                    self.take(&mut word);
                }
                b')' if depth == 0 => break,
                b')' => {
                    depth -= 1;
                    self.take(&mut word);
                }
                b';' if depth == 0 => {
                    self.push_raw_word(&mut word, from)?;
                    let at = self.pos;
                    self.pos += 1;
                    self.push_operator(";", at);
                    from = self.pos;
                }
                _ => self.word_part(byte, &mut word)?,
            }
        }
        self.push_raw_word(&mut word, from)?;
        let at = self.pos;
        self.pos = end;
        self.push_operator(")", at);
        self.push_operator(")", at);
        Ok(())
    }

    fn push_raw_word(&mut self, word: &mut Vec<u8>, start: usize) -> Lexes<()> {
        if word.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8(std::mem::take(word)).map_err(|_| Refused::Syntax)?;
        self.tokens.push(Token { kind: Kind::Word, text, start, end: self.pos, first: false });
        Ok(())
    }

    fn word(&mut self) -> Lexes<()> {
        let first = self.command_position(false);
        let start = self.pos;
        let mut out = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'&' | b'|' | b';' | b')' => break,
                b'(' => {
                    let extended = self.in_test
                        && matches!(out.last(), Some(b'?' | b'*' | b'+' | b'@' | b'!'));
                    if !extended {
                        break;
                    }
                    self.take(&mut out);
                    self.extended_glob(&mut out)?;
                }
                b'<' | b'>' => {
                    if self.peek_second() != Some(b'(') {
                        break;
                    }
                    self.process_substitution(&mut out)?;
                }
                b'[' if (first || self.declares) && is_name(&out) => self.subscript(&mut out)?,
                _ => self.word_part(byte, &mut out)?,
            }
        }
        if out.is_empty() {
            // Only continuations stood here.
            if self.pos == start {
                return Err(Refused::Syntax);
            }
            return Ok(());
        }
        self.finish_word(start, out, first)
    }

    fn finish_word(&mut self, start: usize, out: Vec<u8>, first: bool) -> Lexes<()> {
        let mut text = String::from_utf8(out).map_err(|_| Refused::Syntax)?;
        if matches!(self.src.get(self.pos), Some(b'<' | b'>')) {
            if text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() > 9 {
                return Err(Refused::Unsupported);
            }
            // `{name}>file` opens a descriptor and stores its number: no argument.
            let named = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            if let Some(name) = named.filter(|name| is_name(name.as_bytes())) {
                self.descriptors.push((name.to_owned(), start, self.pos));
                return Ok(());
            }
        }
        if self.passed_over(&text, first) {
            return Ok(());
        }
        if first {
            self.reserved(&text)?;
            if text == "select" {
                // The same shape as `for`, which the grammar knows.
                "for".clone_into(&mut text);
            }
            self.declares = matches!(
                text.as_str(),
                "declare" | "typeset" | "local" | "export" | "readonly" | "builtin" | "command"
            );
        }
        if text == "]]" {
            self.in_test = false;
        }
        self.tokens.push(Token { kind: Kind::Word, text, start, end: self.pos, first });
        Ok(())
    }
}

/// Whether these bytes begin like an assignment: `name=`, `name+=`, `name[…]=`.
pub(crate) fn is_assignment(bytes: &[u8]) -> bool {
    match behind_name(bytes) {
        Some([b'=', ..] | [b'+', b'=', ..]) => true,
        Some([b'[', inner @ ..]) => inner.windows(2).any(|pair| pair == b"]=" || pair == b"]+"),
        _ => false,
    }
}

/// What stands behind the variable's name that these bytes begin with.
pub(crate) fn behind_name(bytes: &[u8]) -> Option<&[u8]> {
    let name = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    let (name, rest) = bytes.split_at_checked(name.count())?;
    is_name(name).then_some(rest)
}

/// Whether these bytes are a variable's name.
pub(crate) fn is_name(bytes: &[u8]) -> bool {
    let mut bytes = bytes.iter();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
