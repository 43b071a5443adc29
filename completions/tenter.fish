# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_tenter_global_optspecs
    string join \n h/help V/version
end

function __fish_tenter_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_tenter_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_tenter_using_subcommand
    set -l cmd (__fish_tenter_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c tenter -n "__fish_tenter_needs_command" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_needs_command" -s V -l version -d 'Print version'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "init" -d 'Write a first hooks file, with comments'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "check" -d 'Find mistakes in hooks files'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "list" -d 'Show the hooks and rules that count here, and where they come from'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "explain" -d 'Show which hooks would run for an event, and why the others would not'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "fire" -d 'Run the hooks for one event and show the outcome'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "hook" -d 'Be a hook of a host: read its payload, run the hooks, answer in its format'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "install" -d 'Make tenter a hook of hosts: write it into their own files'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "uninstall" -d 'Take it out of their files again'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "demo" -d 'Show hooks at work: a scripted session, offline, in a home and a project of its own'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "agent" -d 'What else can be done with sessions'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "test" -d 'Run test files: what is to come of events, in a home and a project of their own'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "trust" -d 'Let the hooks of this project run, after showing what that means'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "untrust" -d 'Take that back: the hooks of this project no longer run'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "schema" -d 'Print the JSON Schema of a format that tenter reads or writes'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c tenter -n "__fish_tenter_needs_command" -f -a "man" -d 'Print the manual page, or that of one command'
complete -c tenter -n "__fish_tenter_using_subcommand init" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand init" -l force -d 'Replace a hooks file that is there already'
complete -c tenter -n "__fish_tenter_using_subcommand init" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand check" -l format -d 'How to write what is found' -r -f -a "human\t'Source lines with what is wrong in them'
json\t'One JSON object'
sarif\t'SARIF 2.1.0, for code scanners'
github\t'Workflow commands that annotate a pull request'"
complete -c tenter -n "__fish_tenter_using_subcommand check" -l profile -d 'Whose files these are [default: told by their names, else tenter\'s own]' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand check" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand check" -l strict -d 'Exit 1 for warnings too, not only for errors'
complete -c tenter -n "__fish_tenter_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tenter -n "__fish_tenter_using_subcommand list" -l host -d 'What another agent would run, tenter and everything else, from its own files' -r
complete -c tenter -n "__fish_tenter_using_subcommand list" -l config -d 'A hooks file to use in place of the user\'s and the project\'s; it counts as trusted' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand list" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand list" -l profile -d 'Whose rules hold, and whose files count; `tenter` has rules and files of its own' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand list" -l json -d 'Write JSON'
complete -c tenter -n "__fish_tenter_using_subcommand list" -l trust-project -d 'Run the project\'s hooks though `tenter trust` was never run, for machines without a terminal'
complete -c tenter -n "__fish_tenter_using_subcommand list" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l tool -d 'The tool that the event is about' -r
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l input -d 'The tool\'s input; without --tool, the fields of the event' -r
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l response -d 'What the tool gave, as JSON or as a text, for the events after it has run' -r
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l event-file -d 'A file that holds the event as JSON; without it and without --tool and --input the event is read from stdin' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l config -d 'A hooks file to use in place of the user\'s and the project\'s; it counts as trusted' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l profile -d 'Whose rules hold, and whose files count; `tenter` has rules and files of its own' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l wire -d 'The event is in the host\'s own bytes, as its hooks would read it'
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l json -d 'Write JSON'
complete -c tenter -n "__fish_tenter_using_subcommand explain" -l trust-project -d 'Run the project\'s hooks though `tenter trust` was never run, for machines without a terminal'
complete -c tenter -n "__fish_tenter_using_subcommand explain" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l tool -d 'The tool that the event is about' -r
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l input -d 'The tool\'s input; without --tool, the fields of the event' -r
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l response -d 'What the tool gave, as JSON or as a text, for the events after it has run' -r
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l event-file -d 'A file that holds the event as JSON; without it and without --tool and --input the event is read from stdin' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l config -d 'A hooks file to use in place of the user\'s and the project\'s; it counts as trusted' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l profile -d 'Whose rules hold, and whose files count; `tenter` has rules and files of its own' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l wire -d 'The event is in the host\'s own bytes, as its hooks would read it'
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l json -d 'Write JSON'
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l io -d 'Show what each hook was sent and what it printed'
complete -c tenter -n "__fish_tenter_using_subcommand fire" -l trust-project -d 'Run the project\'s hooks though `tenter trust` was never run, for machines without a terminal'
complete -c tenter -n "__fish_tenter_using_subcommand fire" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand hook" -l deadline -d 'How long everything may take, such as 25s: less than the host waits' -r
complete -c tenter -n "__fish_tenter_using_subcommand hook" -l config -d 'A hooks file to use in place of the user\'s and the project\'s; it counts as trusted' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand hook" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand hook" -l trust-project -d 'Run the project\'s hooks though `tenter trust` was never run, for machines without a terminal'
complete -c tenter -n "__fish_tenter_using_subcommand hook" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand install" -l timeout -d 'How long the host is to wait for an answer [default: 1m, or the longest that it waits]' -r
complete -c tenter -n "__fish_tenter_using_subcommand install" -l user -d 'Your own file of the host, which counts in every project'
complete -c tenter -n "__fish_tenter_using_subcommand install" -l project -d 'The file of this project'
complete -c tenter -n "__fish_tenter_using_subcommand install" -l dry-run -d 'Show what would change, and change nothing'
complete -c tenter -n "__fish_tenter_using_subcommand install" -l json -d 'Write JSON'
complete -c tenter -n "__fish_tenter_using_subcommand install" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand uninstall" -l user -d 'Your own file of the host, which counts in every project'
complete -c tenter -n "__fish_tenter_using_subcommand uninstall" -l project -d 'The file of this project'
complete -c tenter -n "__fish_tenter_using_subcommand uninstall" -l dry-run -d 'Show what would change, and change nothing'
complete -c tenter -n "__fish_tenter_using_subcommand uninstall" -l json -d 'Write JSON'
complete -c tenter -n "__fish_tenter_using_subcommand uninstall" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand demo" -l json -d 'Write the event stream, one JSON object a line'
complete -c tenter -n "__fish_tenter_using_subcommand demo" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l provider -d 'Who answers for the model' -r -f -a "scripted\t'A script, without a network'
openai\t'Any server with chat completions; a key is read from `OPENAI_API_KEY`'
anthropic\t'A server with messages; a key is read from `ANTHROPIC_API_KEY`'"
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l script -d 'What a scripted model says: a TOML file of turns [default: one that looks around]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l model -d 'The model, by the name that its server has for it [default: the one of a server that was named and has one]' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l base-url -d 'Where the model\'s server is, such as `http://127.0.0.1:8080` [default: `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, else the provider\'s own]' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l mode -d 'What may run without a question where no rule speaks of it' -r -f -a "default\t'What changes nothing'
accept-edits\t'That, and changes of files'
plan\t'What changes nothing; all else is denied'
bypass\t'Everything'"
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l compact-at -d 'Summarise the conversation when its texts are longer than this, such as 64KiB' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l guardrail -d 'Let a second model check calls and results: `default`, or a TOML file of rules' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l guardrail-model -d 'The model that checks [default: the agent\'s]' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l user-model-review -d 'Let the model note what it learns about you, after the first turn and then after every N, for later sessions' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l config -d 'A hooks file to use in place of the user\'s and the project\'s; it counts as trusted' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l profile -d 'Whose rules hold, and whose files count; `tenter` has rules and files of its own' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l headless -d 'Ask nobody: every question is answered no'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l json -d 'Write the event stream, one JSON object a line'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -l trust-project -d 'Run the project\'s hooks though `tenter trust` was never run, for machines without a terminal'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -a "resume" -d 'Go on with a session that was kept'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and not __fish_seen_subcommand_from resume list" -a "list" -d 'Show the sessions that were kept'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l provider -d 'Who answers for the model' -r -f -a "scripted\t'A script, without a network'
openai\t'Any server with chat completions; a key is read from `OPENAI_API_KEY`'
anthropic\t'A server with messages; a key is read from `ANTHROPIC_API_KEY`'"
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l script -d 'What a scripted model says: a TOML file of turns [default: one that looks around]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l model -d 'The model, by the name that its server has for it [default: the one of a server that was named and has one]' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l base-url -d 'Where the model\'s server is, such as `http://127.0.0.1:8080` [default: `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, else the provider\'s own]' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l mode -d 'What may run without a question where no rule speaks of it' -r -f -a "default\t'What changes nothing'
accept-edits\t'That, and changes of files'
plan\t'What changes nothing; all else is denied'
bypass\t'Everything'"
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l compact-at -d 'Summarise the conversation when its texts are longer than this, such as 64KiB' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l guardrail -d 'Let a second model check calls and results: `default`, or a TOML file of rules' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l guardrail-model -d 'The model that checks [default: the agent\'s]' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l user-model-review -d 'Let the model note what it learns about you, after the first turn and then after every N, for later sessions' -r
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l config -d 'A hooks file to use in place of the user\'s and the project\'s; it counts as trusted' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l profile -d 'Whose rules hold, and whose files count; `tenter` has rules and files of its own' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l headless -d 'Ask nobody: every question is answered no'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l json -d 'Write the event stream, one JSON object a line'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -l trust-project -d 'Run the project\'s hooks though `tenter trust` was never run, for machines without a terminal'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from list" -l all -d 'Show those of other folders, too'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from list" -l json -d 'Write JSON'
complete -c tenter -n "__fish_tenter_using_subcommand agent; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand test" -l filter -d 'Run only cases whose `FILE: NAME` holds this text, or matches it as /regex/' -r
complete -c tenter -n "__fish_tenter_using_subcommand test" -l jobs -d 'How many cases run at once [default: one for each processor, at least 2]' -r
complete -c tenter -n "__fish_tenter_using_subcommand test" -l junit -d 'Write the results as JUnit XML to a file, too' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand test" -l json -d 'Write JSON'
complete -c tenter -n "__fish_tenter_using_subcommand test" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand trust" -l digest -d 'Trust without a question, if what would be trusted has this digest' -r
complete -c tenter -n "__fish_tenter_using_subcommand trust" -l profile -d 'Whose files these are' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand trust" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand trust" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand untrust" -l digest -d 'Take trust back without a question, if what is trusted has this digest' -r
complete -c tenter -n "__fish_tenter_using_subcommand untrust" -l profile -d 'Whose files these are' -r -f -a "tenter\t''
crush\t''
mecatl\t''
hotl\t''"
complete -c tenter -n "__fish_tenter_using_subcommand untrust" -l project -d 'The project\'s folder [default: the nearest one with .git or .tenter at or above the current directory]' -r -F
complete -c tenter -n "__fish_tenter_using_subcommand untrust" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tenter -n "__fish_tenter_using_subcommand completions" -s h -l help -d 'Print help'
complete -c tenter -n "__fish_tenter_using_subcommand man" -s h -l help -d 'Print help'
