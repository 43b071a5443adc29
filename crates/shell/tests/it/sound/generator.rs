//! Random, harmless command lines over stub programs.
//!
//! Each line is a function of its seed, so a failing one can be made again. Words are harmless
//! names; files are relative names in the current folder.

/// The stub programs the lines use.
pub(super) const PROGRAMS: &[&str] = &["alpha", "beta", "gamma", "delta", "eps"];

const NAMES: &[&str] = &["one", "two", "x", "a.txt", "--flag", "-v", "k=v", "dir/f", "é", "1"];
const VARIABLES: &[&str] = &["v", "w", "e", "n", "list"];

/// Makes one line from a seed.
pub(super) struct Generator {
    state: u64,
    functions: usize,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        // A multiplication spreads neighbouring seeds.
        let state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { state, functions: 0 }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub(super) fn line(&mut self) -> String {
        let mut out = String::new();
        if self.one_in(2) {
            out.push_str("v='a b'; w=; n=3; ");
        }
        if self.one_in(5) {
            out.push_str("set -- p 'q r' '*'; ");
        }
        if self.one_in(6) {
            out.push_str("list=(i 'j k' \"$v\"); ");
        }
        let depth = 1 + self.below(3);
        let list = self.list(depth);
        out.push_str(&list);
        out
    }

    /// Statements joined in every way; each ends so that another may follow.
    fn list(&mut self, depth: usize) -> String {
        let mut out = String::new();
        for index in 0..=self.below(3) {
            if index > 0 {
                let joint =
                    self.pick(&["; ", "\n", " && ", " || ", " &\n", ";\n# it's a comment `\n"]);
                // A here-document needs its newline first.
                if out.ends_with('\n') {
                    out.push_str(if joint == "\n" || joint == "; " { "" } else { "true" });
                    out.push_str(if joint == "; " || joint == "\n" { "" } else { joint });
                } else {
                    out.push_str(joint);
                }
            }
            let statement = self.statement(depth);
            out.push_str(&statement);
        }
        out
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let inner = depth - 1;
        match self.below(40) {
            0 => format!("( {} )", self.closed(inner)),
            1 => format!("{{ {} }}", self.closed(inner)),
            2 => {
                let (test, yes, no) = (self.closed(inner), self.closed(inner), self.closed(inner));
                match self.below(3) {
                    0 => format!("if {test} then {yes} fi"),
                    1 => format!("if {test} then {yes} else {no} fi"),
                    _ => format!("if false; then {yes} elif {test} then {no} fi"),
                }
            }
            3 => format!("while {} do {} break; done", self.closed(inner), self.closed(inner)),
            4 => format!("until {} do {} break; done", self.closed(inner), self.closed(inner)),
            5 => {
                let words = self.words(inner, 3);
                format!("for v in{words}; do {} done", self.closed(inner))
            }
            6 => format!("for ((i=0; i<2; i++)); do {} done", self.closed(inner)),
            7 => {
                let word = self.word(inner);
                let pattern = self.pick(&["a*", "one", "*", "[ax]|two", "\"$v\""]);
                let open = self.pick(&["", "("]);
                format!(
                    "case {word} in {open}{pattern}) {} ;; *) {} esac",
                    self.closed(inner),
                    self.closed(inner)
                )
            }
            8 => {
                self.functions += 1;
                let name = format!("fn{}", self.functions);
                let body = self.closed(inner);
                let head = match self.below(3) {
                    0 => format!("{name}() {{ {body} }}"),
                    1 => format!("function {name} {{ {body} }}"),
                    _ => format!("{name} () ( {body} )"),
                };
                let words = self.words(inner, 2);
                format!("{head}\n{name}{words}")
            }
            9 => format!("! {}", self.statement(inner)),
            10 => format!("time {}", self.simple(inner)),
            11 => {
                let left = self.word_without_split(inner);
                let test =
                    self.pick(&["-n X", "X == a*", "X =~ ^(a|b)+$", "-z X && -n y", "X != \"$v\""]);
                format!("[[ {} ]] || {}", test.replace('X', &left), self.simple(inner))
            }
            12 => format!(
                "(( n + 1 > $(alpha c | beta >/dev/null; echo 1) )) && {}",
                self.simple(inner)
            ),
            13..=15 => {
                let count = 2 + self.below(2);
                let stages: Vec<String> = (0..count).map(|_| self.stage(inner)).collect();
                let pipe = self.pick(&[" | ", " |& ", " |\n"]);
                stages.join(pipe)
            }
            16 => self.here_document(inner),
            26 => format!("coproc {{ {} }}; wait", self.closed(inner)),
            27 => format!("select v in one two; do {} break; done <<< 1", self.closed(inner)),
            28 => format!("!( {} )", self.closed(inner)),
            29 => {
                let (one, two) = (self.simple(inner), self.simple(inner));
                format!("({one}; ({two}) )")
            }
            30 => format!("(({}); {})", self.simple(inner), self.simple(inner)),
            31 => {
                let (one, two) = (self.simple(inner), self.simple(inner));
                let joint = self.pick(&["|\\\n|", "&\\\n&", "\\\n;", "\\\n|\\\n"]);
                format!("{one} {joint} {two}")
            }
            32 => format!("case one in\none) case x in x) {} esac ;;\nesac", self.closed(inner)),
            33 => {
                let after = self.pick(&["", " | gamma", " >o1"]);
                let (body, inside) = (self.simple(0), self.simple_for_substitution(0));
                format!("{{ {body}; }} <<E{after}\n$({inside})\nE\n")
            }
            17..=19 => self.wrapped(inner),
            34..=37 => self.kept(inner),
            38 => self.piped(inner),
            39 => format!("{{ {}; }} && {}", self.kept(inner), self.simple(inner)),
            _ => self.simple(inner),
        }
    }

    /// Assignments that stay, what changes them, and what moves the shell.
    fn kept(&mut self, depth: usize) -> String {
        let name = self.pick(&["v", "w", "k", "p"]);
        let program = self.pick(PROGRAMS);
        match self.below(16) {
            0 => format!("{name}={program}"),
            1 => format!("{name}='{program} s1 s2'; ${name}"),
            2 => format!("{name}={program}; ${name} t"),
            3 => format!("p={program}; {}; $p u", self.simple(depth)),
            4 => format!("{name}={}", self.word_without_split(depth)),
            5 => format!("export {name}={}", self.pick(NAMES)),
            6 => format!("unset {name}"),
            7 => format!("read {name} <<< 'r s'"),
            8 => format!("{name}+={}", self.pick(NAMES)),
            9 => format!("eval '{name}={program}'"),
            10 => format!("{name}={program} :"),
            11 => format!("{{ {name}={program}; }} {}", self.pick(&["", "&", "| cat"])),
            12 => format!("({name}={program}; ${name} x)"),
            13 => {
                self.pick(&["cd dir", "cd ..", "cd nodir", "cd", "pushd . >/dev/null"]).to_owned()
            }
            14 => format!("printf -v {name} %s {program}"),
            _ => format!(
                "p={program}; {} $p \"${name}\" ${{{name}}}x",
                self.pick(&["", "nice", "{", "true &&"])
            )
            .replace("{ $p", "$p"),
        }
    }

    /// Text that a shell reads from a pipe.
    fn piped(&mut self, depth: usize) -> String {
        let code = self.list(depth.min(1));
        let shell = self.pick(&["sh", "bash", "nice bash", "bash -s a"]);
        let simple = self.posix_simple();
        match self.below(6) {
            0 => format!("echo {} | bash", quote(&code)),
            1 => format!("printf '%s\\n' {} | bash", quote(&code)),
            2 => format!("printf '%s' {} | {shell}", quote(&simple)),
            3 => format!("echo {} | {shell}", quote(&simple)),
            4 => format!("cat <<'P' | {shell}\n{simple}\nP\n"),
            _ => format!("echo {} p1 \"$v\" | {shell}", self.pick(PROGRAMS)),
        }
    }

    /// A list that ends where a reserved word may follow.
    fn closed(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        if list.ends_with('\n') { list } else { format!("{list};") }
    }

    fn stage(&mut self, depth: usize) -> String {
        if depth > 0 && self.one_in(4) {
            let body = self.closed(depth - 1);
            if self.one_in(2) { format!("{{ {body} }}") } else { format!("( {body} )") }
        } else {
            self.simple(depth)
        }
    }

    fn here_document(&mut self, depth: usize) -> String {
        let program = self.pick(PROGRAMS);
        let inner = depth.saturating_sub(1);
        let simple = self.simple_for_substitution(inner);
        let body = match self.below(5) {
            0 => "it's \"text\" here".to_owned(),
            1 => format!("$({simple}) and `beta bq`"),
            2 => "$v ${w:-x} \\$(alpha no) ( ) ;".to_owned(),
            3 => format!("${{w:-$({simple})}}"),
            _ => "for x in `eps t`; do".to_owned(),
        };
        let (tag, end) = match self.below(4) {
            0 => ("'E'", "E"),
            1 => ("E", "E"),
            2 => ("\"E N D\"", "E N D"),
            _ => ("\\E", "E"),
        };
        let after = match self.below(3) {
            0 => String::new(),
            1 => " | gamma p".to_owned(),
            _ => " && delta q".to_owned(),
        };
        if self.one_in(3) {
            format!("{program} <<-{tag} arg{after}\n\t{body}\n\t{end}\n")
        } else if self.one_in(4) {
            format!("eps m \"$({program} <<{tag}\n{body}\n{end}\n)\" z{after}")
        } else {
            format!("{program} <<{tag}{after}\n{body}\n{end}\n")
        }
    }

    fn wrapped(&mut self, depth: usize) -> String {
        let words = self.words(depth, 3);
        let program = self.pick(PROGRAMS);
        let command = format!("{program}{words}");
        match self.below(30) {
            0 => format!("env {command}"),
            1 => format!("env A=1 B='x y' {command}"),
            2 => format!("timeout 5 {command}"),
            3 => format!("timeout -s TERM -k 1 5s {command}"),
            4 => format!("nice -n 3 {command}"),
            5 => format!("nohup {command}"),
            6 => format!("setsid -w {command}"),
            7 => format!("stdbuf -oL {command}"),
            8 => format!("sudo -u nobody -E X=1 {command}"),
            9 => format!("sudo -- env -u V {command}"),
            10 => format!("command {command}"),
            11 => format!("( exec {command} )"),
            12 => format!("printf 'a\\nb\\n' | xargs {command}"),
            13 => format!("echo q | xargs -I{{}} {program} pre{{}}post {{}}"),
            14 => format!("printf 'c d' | xargs -n 1 -r {command}"),
            15 => format!("find . -maxdepth 1 -name 'f*' -exec {program} {{}} \\;"),
            16 => format!("find . -maxdepth 1 -name 'f*' -exec {program} s {{}} +"),
            17 => format!("eval {}", quote(&self.list(depth.min(1)))),
            18 => format!("bash -c {}", quote(&self.list(depth.min(1)))),
            19 => format!("sh -c {} sh{words}", quote(&self.posix_simple())),
            22 => {
                let wrapper = self.pick(&["env", "nice", "command", "nohup", "timeout 3"]);
                format!("{wrapper} \\\n {command}")
            }
            23 => format!("env -S '{program} s1 s2'{words}"),
            24 => format!("A=1 env B=2 sh -c {} sh", quote(&self.posix_simple())),
            25 => {
                let code = quote(&self.posix_simple());
                format!("find . -maxdepth 1 -name 'f*' -exec sh -c {code} sh {{}} \\;")
            }
            26 => format!("echo a b | xargs sh -c {} sh", quote(&self.posix_simple())),
            27 => format!("bash -euo pipefail -c {}", quote(&self.simple(0))),
            28 => format!("eval {program} {}", quote(&quote("e f"))),
            29 => format!("bash <<< {}", quote(&self.list(depth.min(1)))),
            20 => format!("trap {} EXIT", quote(&self.simple(0))),
            _ => {
                let code = self.list(depth.min(1));
                let end = if code.ends_with('\n') { "" } else { "\n" };
                format!("bash <<'CODE'\n{code}{end}CODE\n")
            }
        }
    }

    /// Something every POSIX shell reads as bash does.
    fn posix_simple(&mut self) -> String {
        let program = self.pick(PROGRAMS);
        match self.below(4) {
            0 => format!("{program} \"$1\" $2 'lit eral'"),
            1 => format!("((  {program} in sub ))"),
            2 => format!("{program} a && {program} b"),
            _ => format!("for i in a b; do {program} \"$i\"; done"),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut out = String::new();
        while self.one_in(6) {
            let word = self.word_without_split(depth);
            let assignment = match self.below(4) {
                0 => format!("A={word} "),
                1 => format!("B+={word} "),
                2 => format!("arr[1]={word} "),
                _ => format!("arr[ n + 1 ]={word} "),
            };
            out.push_str(&assignment);
        }
        if self.one_in(12) {
            out.push_str(self.pick(&[">o1 ", "2>/dev/null ", "<a.txt "]));
        }
        let program = self.pick(PROGRAMS);
        let spelled = match self.below(12) {
            0 => format!("\\{program}"),
            1 => format!("'{program}'"),
            2 => format!("{}\"{}\"", &program[..1], &program[1..]),
            3 => format!("$'\\x{:x}'{}", program.as_bytes()[0], &program[1..]),
            4 => format!("{}\\\n{}", &program[..2], &program[2..]),
            5 => format!("{}''{}", &program[..1], &program[1..]),
            _ => program.to_owned(),
        };
        out.push_str(&spelled);
        let words = self.words(depth, 4);
        out.push_str(&words);
        while self.one_in(6) {
            let redirection = self.redirection(depth);
            out.push_str(&redirection);
        }
        out
    }

    fn redirection(&mut self, depth: usize) -> String {
        match self.below(9) {
            0 => " > o1".to_owned(),
            1 => " >>o2".to_owned(),
            2 => " 2>&1".to_owned(),
            3 => " < a.txt".to_owned(),
            4 => format!(" <<< {}", self.word_without_split(depth)),
            5 => " &> o3".to_owned(),
            6 => " {fd}>o1".to_owned(),
            7 if depth > 0 => format!(" < <({})", self.simple_for_substitution(depth - 1)),
            8 if depth > 0 => format!(" > >({})", self.simple_for_substitution(depth - 1)),
            _ => " 2>o4".to_owned(),
        }
    }

    fn words(&mut self, depth: usize, most: usize) -> String {
        let mut out = String::new();
        for _ in 0..self.below(most + 1) {
            out.push_str(self.pick(&[" ", "  ", " \\\n", "\t"]));
            let word = self.word(depth);
            out.push_str(&word);
            if self.one_in(5) {
                let more = self.word(depth);
                // Two parts of one word; a tilde would not expand there, which is fine.
                out.push_str(&more);
            }
        }
        out
    }

    fn simple_for_substitution(&mut self, depth: usize) -> String {
        if depth > 0 && self.one_in(3) { self.closed(depth - 1) } else { self.simple(depth) }
    }

    /// A word for places where bash takes exactly one.
    fn word_without_split(&mut self, depth: usize) -> String {
        match self.below(8) {
            0 => "$v".to_owned(),
            1 => "\"$v\"x".to_owned(),
            2 if depth > 0 => format!("\"$({})\"", self.simple_for_substitution(depth - 1)),
            3 => "'a b'".to_owned(),
            4 => "\"${w:-d e}\"".to_owned(),
            5 => "~/t".to_owned(),
            6 if depth > 0 => format!("$({})", self.simple_for_substitution(depth - 1)),
            _ => self.pick(NAMES).to_owned(),
        }
    }

    fn word(&mut self, depth: usize) -> String {
        let inner = depth.saturating_sub(1);
        match self.below(58) {
            0 => "'single quoted; $v | & )'".to_owned(),
            1 => "\"double; | & 'x' \\\" \\$v\"".to_owned(),
            2 => "\"$v\"".to_owned(),
            3 => "$v".to_owned(),
            4 => "${w}".to_owned(),
            5 => format!(
                "${{{}:-{}}}",
                self.pick(VARIABLES),
                self.pick(&["d e", "'q r'", "\"s t\"", "$v"])
            ),
            6 => "\"${v:+alt}\"".to_owned(),
            7 => "${#v}".to_owned(),
            8 => "${v%b}".to_owned(),
            9 => "\"${v/a/\"x y\"}\"".to_owned(),
            10 => "\"$@\"".to_owned(),
            11 => "$*".to_owned(),
            12 => "\"${list[@]}\"".to_owned(),
            13 => "${list[n-3]}".to_owned(),
            14 => "$((1 + n))".to_owned(),
            15 if depth > 0 => {
                format!("$((1 + $({} >/dev/null; echo 2)))", self.simple_for_substitution(inner))
            }
            16 => "$'a\\tb\\'c\\x41'".to_owned(),
            17 => "$\"loc $v\"".to_owned(),
            18 => "\\*\\ z".to_owned(),
            19 => "*.txt".to_owned(),
            20 => "f?".to_owned(),
            21 => "[ax]*".to_owned(),
            22 => "nomatch[qz]".to_owned(),
            23 => "{a,b}".to_owned(),
            24 => "p{1..3}s".to_owned(),
            25 => "{x,{y,z}}{1,2}".to_owned(),
            26 => "{c..a}'q'{,e}".to_owned(),
            27 => "{01..03}".to_owned(),
            28 => "{}".to_owned(),
            29 => "~".to_owned(),
            30 => "~/x".to_owned(),
            31 => "k=~/y:~/z".to_owned(),
            32 if depth > 0 => format!("$({})", self.simple_for_substitution(inner)),
            33 if depth > 0 => format!("\"a$({})b\"", self.simple_for_substitution(inner)),
            34 if depth > 0 => format!("`{} {}`", self.pick(PROGRAMS), self.pick(NAMES)),
            35 if depth > 0 => format!("\"`{} \\\"in q\\\" 'x'`\"", self.pick(PROGRAMS)),
            36 if depth > 0 => format!("<({})", self.simple_for_substitution(inner)),
            37 if depth > 0 => format!("${{w:-$({})}}", self.simple_for_substitution(inner)),
            38 if depth > 0 => format!("\"${{w:-`{} t`}}\"", self.pick(PROGRAMS)),
            39 if depth > 0 => {
                format!("$(case x in x) {} ;; esac)", self.simple_for_substitution(inner))
            }
            40 => "''".to_owned(),
            44 if depth > 0 => format!("$\\\n({})", self.simple_for_substitution(inner)),
            45 if depth > 0 => format!("$( # it's )\n{})", self.simple_for_substitution(inner)),
            46 if depth > 0 => {
                format!("\"${{v:-$( ({}) )}}\"", self.simple_for_substitution(inner))
            }
            47 if depth > 0 => format!("${{v/$({})/z}}", self.simple_for_substitution(inner)),
            48 if depth > 0 => {
                format!("${{v:$({} >/dev/null; echo 1)}}", self.simple_for_substitution(inner))
            }
            49 if depth > 0 => format!("$(cat <<'Q'\nit's {}\nQ\n)", self.pick(NAMES)),
            50 if depth > 0 => {
                let (one, two) = (self.pick(PROGRAMS), self.pick(PROGRAMS));
                format!("\"`{one} \\`{two} in\\` \\$v`\"")
            }
            51 if depth > 0 => {
                format!("\"${{w:-\"q $({})\"}}\"", self.simple_for_substitution(inner))
            }
            52 if self.one_in(8) => "'`quoted` $(text)'".to_owned(),
            53 => "$[1 + 2]".to_owned(),
            54 => "a[\"$v\"b]*".to_owned(),
            55 => "{$v,\"$v\",$(echo m n)}".to_owned(),
            56 => "${@:1}".to_owned(),
            57 => "\"${list[@]/j/k}\"x".to_owned(),
            41 => "$v{a,b}".to_owned(),
            42 => "\"x\"$w'y'".to_owned(),
            _ => self.pick(NAMES).to_owned(),
        }
    }
}

/// The text as one word that quotes all of it.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
