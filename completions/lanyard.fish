function __lanyard_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __lanyard_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __lanyard_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __lanyard_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __lanyard_parse_tokens -S
    set -l unparsed_tokens (__lanyard_tokens -pc)
    switch $unparsed_tokens[1]
    case 'lanyard'
        __lanyard_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'login'
            __lanyard_parse_subcommand 1 'authority=' 'client-id=' 'scope=+' 'account=' 'flow=' 'browser=' 'timeout=' 'non-interactive' 'prompt=' 'version' 'h/help'
        case 'logout'
            __lanyard_parse_subcommand 1 'all' 'client-id=' 'version' 'h/help'
        case 'accounts'
            __lanyard_parse_subcommand 0 'json' 'version' 'h/help'
        case 'token'
            __lanyard_parse_subcommand 1 'authority=' 'client-id=' 'scope=+' 'account=' 'flow=' 'browser=' 'timeout=' 'non-interactive' 'json' 'version' 'h/help'
        case 'configure'
            __lanyard_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'git'
                __lanyard_parse_subcommand 0 'system' 'version' 'h/help'
            end
        case 'sandbox'
            __lanyard_parse_subcommand -r 1 'version' 'h/help'
        case 'get'
            __lanyard_parse_subcommand 0 'flow=' 'browser=' 'timeout=' 'non-interactive' 'version' 'h/help'
        case 'store'
            __lanyard_parse_subcommand 0 'version' 'h/help'
        case 'erase'
            __lanyard_parse_subcommand 0 'version' 'h/help'
        case 'capability'
            __lanyard_parse_subcommand 0 'version' 'h/help'
        case 'help'
            __lanyard_parse_subcommand -r 1 'version'
        end
    end
end

function __lanyard_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __lanyard_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __lanyard_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __lanyard_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__lanyard_tokens -p)
    if test -z "$(__lanyard_tokens -t)"
        set -l index (count (__lanyard_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'lanyard' -f
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'login' -d 'Sign in.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'logout' -d 'Sign an account out.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'accounts' -d 'List who has signed in.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'token' -d 'Print an access token.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'configure' -d 'Make a tool use lanyard.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'sandbox' -d 'Run a local Entra with a protected git remote, to try everything without a tenant.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'get' -d 'Answer a credential request on stdin, in git\'s key=value format.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'store' -d 'Keep the password on stdin, in git\'s key=value format.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'erase' -d 'Forget the password or token on stdin, in git\'s key=value format.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'capability' -d 'Tell what of git\'s protocol lanyard understands.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" authority' -l 'authority' -d 'The authority.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" client-id' -l 'client-id' -d 'The application\'s client id.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login"' -l 'scope' -d 'A scope; may be given several times.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" account' -l 'account' -d 'The account, by user name or identifier.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" flow' -l 'flow' -d 'How to sign in: auto, browser or device-code.' -rfka 'auto browser device-code'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" browser' -l 'browser' -d 'The command that opens a browser.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" timeout' -l 'timeout' -d 'How long you have to sign in.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" non-interactive' -l 'non-interactive' -d 'Never ask; fail with exit status 2 where only you could go on.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" prompt' -l 'prompt' -d 'login, consent, select_account or create.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard login" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard logout" all' -l 'all' -d 'Sign every account out.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard logout" client-id' -l 'client-id' -d 'Only this client\'s tokens.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard logout" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard logout" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard accounts" json' -l 'json' -d 'Print JSON.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard accounts" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard accounts" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" authority' -l 'authority' -d 'The authority.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" client-id' -l 'client-id' -d 'The application\'s client id.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token"' -l 'scope' -d 'A scope; may be given several times.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" account' -l 'account' -d 'The account, by user name or identifier.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" flow' -l 'flow' -d 'How to sign in: auto, browser or device-code.' -rfka 'auto browser device-code'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" browser' -l 'browser' -d 'The command that opens a browser.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" timeout' -l 'timeout' -d 'How long you have to sign in.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" non-interactive' -l 'non-interactive' -d 'Never ask; fail with exit status 2 where only you could go on.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" json' -l 'json' -d 'Print JSON in the shape of `az account get-access-token`.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard token" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard configure" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard configure" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_positional "lanyard configure" -eq 1' -fa 'git' -d 'Make git use lanyard as a credential helper.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard configure git" system' -l 'system' -d 'For everybody on this machine, in git\'s system configuration.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard configure git" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard configure git" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard sandbox" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard sandbox" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard get" flow' -l 'flow' -d 'How to sign in: auto, browser or device-code.' -rfka 'auto browser device-code'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard get" browser' -l 'browser' -d 'The command that opens a browser.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard get" timeout' -l 'timeout' -d 'How long you have to sign in.' -rfka ''
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard get" non-interactive' -l 'non-interactive' -d 'Never ask; fail with exit status 2 where only you could go on.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard get" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard get" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard store" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard store" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard erase" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard erase" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard capability" version' -l 'version' -d 'Show the version.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard capability" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'lanyard' -n '__lanyard_should_offer_completions_for_flags_or_options "lanyard help" version' -l 'version' -d 'Show the version.'
