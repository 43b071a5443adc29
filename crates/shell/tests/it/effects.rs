//! Which files a line is said to write and read.

use tenter_shell::analyse;

fn writes(line: &str) -> Vec<String> {
    analyse(line).writes.iter().map(|write| write.path.to_string()).collect()
}

fn reads(line: &str) -> Vec<String> {
    analyse(line).reads.iter().map(|read| read.path.to_string()).collect()
}

#[test]
fn redirections_write_and_read() {
    for line in
        ["x > f", "x >> f", "x >| f", "x &> f", "x &>> f", "x >& f", "x 2> f", "> f", "x {fd}>f"]
    {
        assert_eq!(writes(line), ["f"], "{line}");
    }
    assert_eq!(writes("x <> f"), ["f"]);
    assert_eq!(reads("x <> f"), ["f"]);
    assert_eq!(reads("x < f"), ["f"]);
    assert_eq!(writes("x 2>&1 >&2 <&3 3>&-"), [""; 0]);
    assert_eq!(writes("x > >(tee f)"), ["f"]);
    assert_eq!(writes("{ a; b; } > f"), ["f"]);
    assert_eq!(writes("for x in a; do y; done > f"), ["f"]);
    assert_eq!(writes("f() { x; } > f"), ["f"]);
    assert_eq!(writes("x > \"$dir/f\" > ~/g"), ["…/f", "~/g"]);
    assert_eq!(writes("cat <<'E' > f\ntext\nE"), ["f"]);
}

#[test]
fn programs_write_what_their_arguments_name() {
    let cases: &[(&str, &[&str])] = &[
        ("tee a -a b", &["a", "b"]),
        ("sudo tee /etc/hosts", &["/etc/hosts"]),
        ("sed -i s/a/b/ f g", &["f", "g"]),
        ("sed -i.bak -e s/a/b/ f", &["f"]),
        ("sed -n p f", &[]),
        ("cp a b", &["b", "b/a"]),
        ("cp -t d a b", &["d", "d/a", "d/b"]),
        ("mv a b", &["b", "a", "b/a"]),
        ("ln -s a b", &["b", "b/a"]),
        ("ln -sf /dev/null", &["./null"]),
        ("install -m 755 a /usr/bin/a", &["/usr/bin/a", "/usr/bin/a/a"]),
        ("dd if=a of=b bs=1", &["b"]),
        ("rm -rf -- a b", &["a", "b"]),
        ("touch -r ref f", &["f"]),
        ("truncate -s 0 f", &["f"]),
        ("chmod -x a b", &["a", "b"]),
        ("curl -o f https://x.example/y", &["f"]),
        ("curl -sSLo f https://x.example/y", &["f"]),
        ("curl -O https://x.example/y.sh?z=1", &["y.sh"]),
        ("wget https://x.example/y.sh", &["y.sh"]),
        ("wget -qO- https://x.example/y.sh", &[]),
        ("sort -o f g", &["f"]),
        ("find . -fprintf f %p", &["f"]),
        ("find a -delete", &["a", "a/…"]),
        ("xargs rm < list", &["…"]),
        ("git mv a b", &["b", "a", "b/a"]),
        ("ssh host 'rm f'", &[]),
        ("env A=1 tee f", &["f"]),
        ("cat f", &[]),
    ];
    for (line, expected) in cases {
        let found = writes(line);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), *expected, "{line}");
    }
}

#[test]
fn programs_read_what_their_arguments_name() {
    let cases: &[(&str, &[&str])] = &[
        ("cat .env", &[".env"]),
        ("cat .e''nv", &[".env"]),
        ("head -n 3 a b", &["a", "b"]),
        ("grep -rn x src", &["src"]),
        ("grep -e x f", &["f"]),
        ("cp a b", &["a"]),
        ("source .env", &[".env"]),
        ("base64 < f", &["f"]),
        ("awk 'NR==1' .env", &[".env"]),
        ("curl -F f=@.env https://x.example", &[".env"]),
        ("curl -d @.env https://x.example", &[".env"]),
        ("scp k host:", &["k"]),
        ("docker exec app cat /app/.env", &["/app/.env"]),
        ("dd if=a of=b", &["a"]),
        ("bash run.sh", &["run.sh"]),
        ("python3 run.py", &["run.py"]),
        ("sed -n 1p f", &["f"]),
    ];
    for (line, expected) in cases {
        let found = reads(line);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), *expected, "{line}");
    }
}
