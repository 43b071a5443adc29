//! Programs, options and forms by which a line names a file that it writes or reads.

use tenter_shell::{FileUse, UnknownReason, analyse};

fn paths(uses: &[FileUse]) -> Vec<String> {
    uses.iter().map(|one| one.path.to_string()).collect()
}

/// Each line names the file it writes: `…` stands for a file that cannot be told.
const WRITTEN: &[(&str, &str)] = &[
    ("cp -rt /etc x", "/etc/x"),
    ("cp -at /etc x", "/etc/x"),
    ("cp --target=/etc x", "/etc/x"),
    ("cp --t /etc x", "/etc/x"),
    ("cp -t/etc x", "/etc/x"),
    ("mv --target-dir /etc x", "/etc/x"),
    ("install -Dt /etc x", "/etc/x"),
    ("install -D x /etc/x", "/etc/x"),
    ("install -d /etc/d", "/etc/d"),
    ("ln -st /etc /tmp/x", "/etc/x"),
    ("sort -uo F x", "F"),
    ("sort -uoF x", "F"),
    ("sort --out=F x", "F"),
    ("sort --o F x", "F"),
    ("sort -o\"$x\" y", "…"),
    ("sort --out\"$x\" y", "…"),
    ("shuf -o F x", "F"),
    ("sed --in s/a/b/ x", "x"),
    ("sed --in-place=.bak s/a/b/ x", "x"),
    ("sed -Ei s/a/b/ x", "x"),
    ("sed -i -e s/a/b/ x", "x"),
    ("sed -n 'w F' x", "F"),
    ("perl -pi -e s/a/b/ x", "x"),
    ("gawk -i inplace '{print}' x", "x"),
    ("chmod --reference=R f", "f"),
    ("chmod --ref R f", "f"),
    ("chown --reference=R f", "f"),
    ("chattr -i f", "f"),
    ("chattr +i f", "f"),
    ("rm -m x", "x"),
    ("xxd a b", "b"),
    ("xxd -r a b", "b"),
    ("iconv -f a -t b -o F x", "F"),
    ("openssl enc -aes-256-cbc -in x -out F", "F"),
    ("openssl req -x509 -keyout F -out G", "F"),
    ("gpg -o F -d x", "F"),
    ("gpg --output F -d x", "F"),
    ("zstd -o F x", "F"),
    ("zstd x -oF", "F"),
    ("base64 -i x -o F", "F"),
    ("ssh-keygen -t ed25519 -f F", "F"),
    ("sudoedit F", "F"),
    ("sudo -e F", "F"),
    ("link A B", "B"),
    ("rename s/a/b/ F", "F"),
    ("mktemp /etc/x.XXXX", "/etc/x.XXXX"),
    ("mktemp -p /etc x.XXXX", "/etc"),
    ("aria2c -d /etc -o F http://h/x", "/etc/F"),
    ("aria2c -d /etc http://h/x", "/etc/x"),
    ("git clone https://h/x.git D", "D"),
    ("git rev-list --output=F HEAD", "F"),
    ("git blame --output F x", "F"),
    ("git stash list --outp=F", "F"),
    ("git merge-file F a b", "F"),
    ("git index-pack -o F x", "F"),
    ("git mailinfo F G", "F"),
    ("git interpret-trailers --in-place F", "F"),
    ("git read-tree -u HEAD", "./…"),
    ("git fast-export --export-marks=F HEAD", "F"),
    ("git credential-store --file F store", "F"),
    ("cmake -E copy x F", "F"),
    ("cmake -E touch F", "F"),
    ("socat TCP-LISTEN:1 CREATE:F", "F"),
    ("sed -nl 5 'w F' x", "F"),
    ("git clone https://h/x.git", "x"),
    ("git init D", "D"),
    ("git init -q D", "D"),
    ("git worktree add D", "D"),
    ("git worktree add -b b D", "D"),
    ("git archive -o F HEAD", "F"),
    ("git archive --outp=F HEAD", "F"),
    ("git diff --output=F", "F"),
    ("git log --output F", "F"),
    ("git show --output=F", "F"),
    ("git format-patch -o D HEAD~1", "D"),
    ("git bundle create F --all", "F"),
    ("git checkout-index --prefix=/etc/ -a", "/etc/"),
    ("git -C /etc checkout .", "/etc/."),
    ("git -C / -C etc checkout -- x", "/etc/x"),
    ("git --work-tree=/etc checkout -- x", "/etc/x"),
    ("git checkout FILE.rs", "FILE.rs"),
    ("git checkout HEAD FILE", "FILE"),
    ("git checkout -- FILE", "FILE"),
    ("git restore FILE", "FILE"),
    ("git -C /etc mv a b", "/etc/b"),
    ("git config -f F a.b c", "F"),
    ("git submodule add https://h/x D", "D"),
    ("gcc -O2 x.c -o F", "F"),
    ("cc -oF x.c", "F"),
    ("clang x.c -o F", "F"),
    ("ld -o F x.o", "F"),
    ("as -o F x.s", "F"),
    ("rustc -o F x.rs", "F"),
    ("go build -o F ./...", "F"),
    ("go build -o=F ./...", "F"),
    ("pandoc x.md -o F", "F"),
    ("pandoc x.md --output=F", "F"),
    ("tcpdump -i eth0 -w F", "F"),
    ("strace -o F ls", "F"),
    ("/usr/bin/time -o F ls", "F"),
    ("time -o F ls", "F"),
    ("docker cp C:/x /etc/y", "/etc/y"),
    ("docker container cp C:/x /etc/y", "/etc/y"),
    ("kubectl cp ns/pod:/x /etc/y", "/etc/y"),
    ("kubectl cp -c web pod:/x /etc/y", "/etc/y"),
    ("aws s3 cp s3://b/x /etc/y", "/etc/y"),
    ("aws s3 sync s3://b/x /etc", "/etc"),
    ("aws s3 mv F s3://b/x", "F"),
    ("gsutil -m cp gs://b/x /etc/y", "/etc/y"),
    ("yq -i .a=1 F", "F"),
    ("dos2unix F", "F"),
    ("prettier --write F", "F"),
    ("black F", "F"),
    ("rustfmt F", "F"),
    ("gofmt -w F", "F"),
    ("eslint --fix F", "F"),
    ("pip install -t D x", "D"),
    ("pip install --target D x", "D"),
    ("pip install --target=D x", "D"),
    ("python3 -m pip install -t D x", "D"),
    ("mount --bind A B", "B"),
    ("mount -o bind A B", "B"),
    ("mke2fs /dev/sdX", "/dev/sdX"),
    ("mkfs.ext4 -L n /dev/sdX", "/dev/sdX"),
    ("mkfs -t ext4 /dev/sdX", "/dev/sdX"),
    ("wipefs -a /dev/sdX", "/dev/sdX"),
    ("fdisk /dev/sdX", "/dev/sdX"),
    ("parted -s /dev/sdX mklabel gpt", "/dev/sdX"),
    ("sgdisk -Z /dev/sdX", "/dev/sdX"),
    ("mkswap /dev/sdX", "/dev/sdX"),
    ("rsync -a host:/x /etc/y", "/etc/y"),
    ("rsync -a --log-file=F x y", "F"),
    ("scp host:x /etc/", "/etc/x"),
    ("patch -o F x", "F"),
    ("patch F x.diff", "F"),
    ("split x /etc/p", "/etc/p…"),
    ("csplit -f /etc/p x 10", "/etc/p…"),
    ("tee -a --output-error=warn F", "F"),
    ("truncate -s0 F", "F"),
    ("truncate -s 0 F", "F"),
    ("curl -o F --output-dir /etc https://h/x", "/etc/F"),
    ("curl --output-dir /etc -O https://h/x", "/etc/x"),
    ("curl --create-dirs -o F https://h/x", "F"),
    ("curl -c F https://h/x", "F"),
    ("curl -sSD F https://h/x", "F"),
    ("curl --trace F https://h/x", "F"),
    ("curl -OLo F https://h/x", "F"),
    ("curl -w '%output{/etc/x}a' https://h/x", "…"),
    ("wget -P /etc https://h/x", "/etc/x"),
    ("wget -a F https://h/x", "F"),
    ("wget -o F https://h/x", "x"),
    ("wget -qO F https://h/x", "F"),
    ("tar -C /etc -xf a.tar", "/etc"),
    ("tar -xf a.tar", "./…"),
    ("tar -xf a.tar -C d", "d/…"),
    ("tar -xPf a.tar -C d", "…"),
    ("tar --absolute-names -xf a.tar", "…"),
    ("tar -C / -C d -xf a.tar", "…"),
    ("tar -xf a.tar -C /", "…"),
    ("find -delete", "./…"),
    ("find -L /etc -name x -delete", "/etc/…"),
    ("git pull", "./…"),
    ("git -C d pull", "d/…"),
    ("git --work-tree=/etc pull", "…"),
    ("GIT_WORK_TREE=/etc git pull", "…"),
    ("export GIT_DIR=/x; git stash pop", "…"),
    ("git config core.worktree /etc; git pull", "…"),
    ("git -c core.worktree=/etc pull", "…"),
    ("tar cfz F x", "F"),
    ("tar czf F x", "F"),
    ("tar -czf F x", "F"),
    ("tar -c --file=F x", "F"),
    ("unzip a.zip -d /etc", "/etc"),
    ("7z x a.7z -o/etc", "/etc"),
    ("zip -r F a", "F"),
    ("sqlite3 F", "F"),
    ("crontab F", "F"),
    ("ed F", "F"),
    ("vim +12 F", "F"),
    ("find . -fprintf F %p", "F"),
    ("tee >(cat > F)", "F"),
    ("anything -o F", "F"),
    ("anything --output F", "F"),
    ("anything --out=F", "F"),
    ("anything -out F", "F"),
    ("anything --outfile F", "F"),
    ("anything --output-file=F", "F"),
];

#[test]
fn a_written_file_is_found_however_it_is_named() {
    let mut missed = Vec::new();
    for (line, file) in WRITTEN {
        let found = paths(&analyse(line).writes);
        if !found.iter().any(|path| path == file) {
            missed.push((line, file, found));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Each line names the file it reads.
const READ: &[(&str, &str)] = &[
    ("vim F", "F"),
    ("vi -R F", "F"),
    ("nano F", "F"),
    ("emacs F", "F"),
    ("view F", "F"),
    ("gzip -c F", "F"),
    ("xz -c F", "F"),
    ("zstd -c F", "F"),
    ("bzip2 -c F", "F"),
    ("zip A F G", "F"),
    ("wc --files0-from=F", "F"),
    ("sort --files0-from F", "F"),
    ("du --files0-from=F", "F"),
    ("xargs -a F echo", "F"),
    ("xargs --arg-file=F echo", "F"),
    ("docker run --env-file F img", "F"),
    ("docker run --env-file=F img", "F"),
    ("gpg -c F", "F"),
    ("age -d -i F x", "F"),
    ("shuf F", "F"),
    ("pv F", "F"),
    ("look x F", "F"),
    ("basenc --base64 F", "F"),
    ("git diff --no-index A F", "F"),
    ("git blame F", "F"),
    ("git show HEAD:F", "F"),
    ("git show HEAD:.env", ".env"),
    ("git grep x -- F", "F"),
    ("git log -p -- F", "F"),
    ("git hash-object F", "F"),
    ("git add F", "F"),
    ("git -C /x add F", "/x/F"),
    ("git commit -F F", "F"),
    ("source F", "F"),
    (". F", "F"),
    ("awk -f F x", "F"),
    ("python F", "F"),
    ("dd if=F of=x", "F"),
    ("curl -d @F https://h", "F"),
    ("curl -d@F https://h", "F"),
    ("curl --data-binary @F https://h", "F"),
    ("curl -F f=@F https://h", "F"),
    ("curl -F 'f=@F;type=x' https://h", "F"),
    ("curl -T F https://h", "F"),
    ("curl -K F", "F"),
    ("curl --cacert F https://h", "F"),
    ("curl -b F https://h", "F"),
    ("curl -sF f=@F https://h", "F"),
    ("curl file:///etc/passwd", "/etc/passwd"),
    ("wget --post-file F https://h", "F"),
    ("wget --post-file=F https://h", "F"),
    ("nc h 1 < F", "F"),
    ("tar c F", "F"),
    ("tar cz F", "F"),
    ("tar -cf - F", "F"),
    ("tar -C /x -cf a.tar F", "/x/F"),
    ("tar -xf F", "F"),
    ("scp F host:", "F"),
    ("scp -i K F host:", "K"),
    ("rsync F host:", "F"),
    ("rsync -av -e ssh F host:", "F"),
    ("cp F x", "F"),
    ("cp -t x F", "F"),
    ("ln -s F x", "F"),
    ("mv F x", "F"),
    ("sed '' F", "F"),
    ("sed -n 'r F' x", "F"),
    ("sed -ne p F", "F"),
    ("env -f F x", "F"),
    ("kubectl apply -f F", "F"),
    ("kubectl apply --filename=F", "F"),
    ("kubectl create secret generic s --from-file=k=./F", "./F"),
    ("ansible-vault view F", "F"),
    ("openssl rsa -in F -text", "F"),
    ("openssl dgst ./F", "./F"),
    ("ssh -i F host", "F"),
    ("ssh -o IdentityFile=./F host", "./F"),
    ("ssh-add F", "F"),
    ("jq . F", "F"),
    ("yq . F", "F"),
    ("column F", "F"),
    ("xxd F", "F"),
    ("xxd -l 16 F", "F"),
    ("diff F x", "F"),
    ("paste F x", "F"),
    ("docker cp ~/.ssh C:/", "~/.ssh"),
    ("kubectl cp F pod:/x", "F"),
    ("aws s3 cp F s3://b/x", "F"),
    ("gsutil cp F gs://b/x", "F"),
    ("grep -rne x F", "F"),
    ("gh api x -F f=@.env", ".env"),
    ("gh issue create -F notes.md", "notes.md"),
    ("gh gist create .env", ".env"),
    ("helm install x -f v.yaml", "v.yaml"),
    ("helm install x --set-file k=./F", "./F"),
    ("az storage blob upload -f F", "F"),
    ("gcloud secrets create x --data-file=F", "F"),
    ("aws lambda invoke --payload file://F x", "F"),
    ("aws ssm put-parameter --value=fileb://F", "F"),
    ("rclone cat ./F", "./F"),
    ("http POST h f@.env", ".env"),
    ("socat - OPEN:F", "F"),
    ("socat FILE:F,rdonly TCP:h:80", "F"),
    ("date -f F", "F"),
    ("dig -f F", "F"),
    ("ip -batch F", "F"),
    ("make -f F", "F"),
    ("git interpret-trailers F", "F"),
    ("git merge-file -p x F y", "F"),
    ("grep --reg=x F", "F"),
    ("perl -ne print F", "F"),
    ("anything .env", ".env"),
    ("anything a/b", "a/b"),
    ("anything ~/b", "~/b"),
    ("anything x.env", "x.env"),
    ("anything --config=./x", "./x"),
    ("anything --config .env", ".env"),
    ("anything x=@.env", ".env"),
    ("bash run.sh ./x", "./x"),
    ("node --env-file=.env a.js", ".env"),
];

#[test]
fn a_read_file_is_found_however_it_is_named() {
    let mut missed = Vec::new();
    for (line, file) in READ {
        let found = paths(&analyse(line).reads);
        if !found.iter().any(|path| path == file) {
            missed.push((line, file, found));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_text_that_mentions_a_file_is_no_use_of_it() {
    for line in [
        "echo 'cat .env'",
        "echo .env",
        "printf '%s' .env",
        "test -f .env",
        "[ -e ./.env ]",
        "kill -9 1",
        "ls -o .env",
        "ps -o pid,cmd",
        "git commit -m 'remove .env'",
        "git commit -am .env",
        "git push origin feature/.env",
        "git fetch origin a/b",
        "npm run build/x.env",
        "cargo test a/b.c",
        "pip install x.y",
        "docker pull a/b.c:1",
        "docker run -e A=b a/b",
        "kubectl get pods/x.y -o yaml",
        "ssh host.example cat .env",
        "curl https://x.example/.env",
        "anything https://x.example/.env",
        "anything 'remove .env'",
        "anything 1.2.3 word \"$x\" \"$x/y\" *.c",
        "anything -o json",
        "sudo -u x anything",
        "ip -o addr",
        "set -o pipefail",
        "bash -o errexit -c 'echo a/b'",
        "export A=./b",
    ] {
        let analysis = analyse(line);
        assert_eq!(paths(&analysis.reads), [""; 0], "{line}");
        assert_eq!(paths(&analysis.writes), [""; 0], "{line}");
    }
    assert_eq!(paths(&analyse("grep '\\.env' .gitignore").reads), [".gitignore"]);
}

#[test]
fn what_only_looks_writes_nothing() {
    for line in [
        "gzip -c a",
        "xz --stdout a",
        "tar -tf a.tar",
        "tar -xOf a.tar",
        "unzip -l a.zip",
        "git checkout -b topic",
        "git checkout main",
        "git diff",
        "git log -p",
        "black --check a",
        "prettier a",
        "yq . a",
        "sed -n p a",
        "curl https://x.example",
        "curl -o - https://x.example",
        "wget -qO- https://x.example",
        "scp a host:",
        "rsync -a a host:b",
        "aws s3 cp a s3://b/c",
        "docker cp a C:/b",
        "kubectl get pods -o json",
        "gcc -fno-common -c",
    ] {
        assert_eq!(paths(&analyse(line).writes), [""; 0], "{line}");
    }
}

#[test]
fn a_process_substitution_is_no_file() {
    for line in ["cat <(ls)", "bash -c 'cat <(ls)'", "diff <(a) <(b)", "tee >(wc)", "a > >(wc)"] {
        let analysis = analyse(line);
        assert_eq!(paths(&analysis.reads), [""; 0], "{line}");
        assert_eq!(paths(&analysis.writes), [""; 0], "{line}");
    }
    // Only where nothing else is in the word, and whatever is run of it is not known.
    assert_eq!(paths(&analyse("cat a<(ls)").reads), ["a…"]);
    let reasons = |line| analyse(line).unknowns.iter().map(|one| one.reason).collect::<Vec<_>>();
    assert_eq!(reasons("bash <(curl x)"), [UnknownReason::DynamicCode]);
    assert!(reasons("source <(curl x)").contains(&UnknownReason::SourcesFile));
}

#[test]
fn one_file_is_one_however_its_path_is_spelled() {
    for (written, run) in [
        ("/tmp/s", "/tmp//s"),
        ("/tmp/./s", "/tmp/s"),
        ("/tmp/x/../s", "/tmp/s"),
        ("/tmp/s", "/tmp/x/../s"),
        ("s", "./s"),
        ("././s", "s"),
        ("\"$d\"/s", "/tmp//s"),
        ("/tmp/./\"$s\"", "/tmp//s"),
        ("/tmp/s", "/tmp/x/..//\"$s\""),
        ("/s", "//s"),
        ("//\"$s\"", "/s"),
    ] {
        let line = format!("echo x > {written}; sh {run}");
        let reasons: Vec<_> = analyse(&line).unknowns.iter().map(|one| one.reason).collect();
        assert!(reasons.contains(&UnknownReason::RunsWritten), "{line}: {reasons:?}");
    }
    for (written, run) in [("/tmp/s", "/tmp/t"), ("/tmp/s", "s/tmp/s"), ("/a/\"$x\"", "/b/c")] {
        let line = format!("echo x > {written}; sh {run}");
        let reasons: Vec<_> = analyse(&line).unknowns.iter().map(|one| one.reason).collect();
        assert!(!reasons.contains(&UnknownReason::RunsWritten), "{line}: {reasons:?}");
    }
}

#[test]
fn a_use_of_a_link_is_a_use_of_what_it_leads_to() {
    let reads: &[(&str, &str)] = &[
        ("ln -s /etc e; cat e/passwd", "/etc/passwd"),
        ("ln -s /etc/passwd p; cat ./p", "/etc/passwd"),
        ("ln /etc/passwd p; cat p", "/etc/passwd"),
        ("ln -s /etc; cat etc/passwd", "/etc/passwd"),
        ("ln -st d /etc; cat d/etc/passwd", "/etc/passwd"),
        ("ln -s /etc d; cat d/etc/passwd", "/passwd"),
        ("link /etc/passwd p; cat p", "/etc/passwd"),
        ("cp -s /etc/passwd p; cat p", "/etc/passwd"),
        ("cp -al /etc e; cat e/passwd", "/etc/passwd"),
        ("cp --sym /etc/passwd p; cat p", "/etc/passwd"),
        ("mount --bind /etc /mnt; cat /mnt/passwd", "/etc/passwd"),
        ("ln -s .env sub/e; cat sub/e", "sub/.env"),
        ("ln -s ~/.ssh s; cat s/id", "~/.ssh/id"),
        ("ln -s /etc a; ln -s a b; cat b/passwd", "/etc/passwd"),
        ("ln -s / r && (cat r//etc/./passwd)", "//etc/passwd"),
        ("cd /tmp; ln -s /etc e; cat /tmp/e/passwd", "/etc/passwd"),
        ("ln -s /etc /tmp/e; cd /tmp; cat e/passwd", "/etc/passwd"),
        ("f() { cat e/x; }; ln -s /etc e; f", "/etc/x"),
        ("ln -s \"$t\" e; cat e/passwd", "…"),
        ("ln -s /etc \"$l\"; cat e/passwd", "…"),
    ];
    for (line, file) in reads {
        let found = paths(&analyse(line).reads);
        if *file == "/passwd" {
            // What is in a folder of the link's name is another file.
            assert!(!found.iter().any(|path| path == file), "{line}: {found:?}");
            continue;
        }
        assert!(found.iter().any(|path| path == file), "{line}: {found:?}");
    }
    let writes: &[(&str, &str)] = &[
        ("ln -s /etc e; echo x > e/passwd", "/etc/passwd"),
        ("ln -sf /etc/passwd p; tee p", "/etc/passwd"),
        ("ln -s /etc e; cp x e", "/etc/x"),
    ];
    for (line, file) in writes {
        let found = paths(&analyse(line).writes);
        assert!(found.iter().any(|path| path == file), "{line}: {found:?}");
    }
    // Making or removing the link itself does not use what it leads to.
    let found = paths(&analyse("rm -f e; ln -s /etc/x e").writes);
    assert!(!found.iter().any(|path| path == "/etc/x"), "{found:?}");
    // What is another file stays one.
    assert_eq!(paths(&analyse("ln -s /etc e; cat ee f/g").reads), ["/etc", "ee", "f/g"]);
}

/// Long lines of links end in an answer.
#[test]
fn many_links_stand_for_any_file() {
    let links: Vec<_> = (0..200).map(|n| format!("ln -s l{n} l{};", n + 1)).collect();
    let line = links.join(" ") + " cat l200/x";
    assert!(paths(&analyse(&line).reads).iter().any(|path| path == "…"));
    let circle = analyse("ln -s a/b b; ln -s b/a a; cat a/x");
    assert!(paths(&circle.reads).iter().any(|path| path == "…"));
}
