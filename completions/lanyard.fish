# fish completion for lanyard(1) and git-credential-lanyard(1); git's own completion asks for the latter's.

function __lanyard_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program lanyard
    # A lanyard that is not on PATH completes itself, unless it is one of the current folder, which may be anybody's.
    string match -qr '^~?/.*/lanyard$' -- $words[1]; and set program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l answer ($program complete fish $words "$current" 2>/dev/null)
    switch "$answer[1]"
        case values
            printf '%s\n' $answer[2..]
        case files
            __fish_complete_path "$current"
        case 'command *'
            set -l start (math 1 + (string replace 'command ' '' -- $answer[1]))
            complete -C (string join ' ' -- (string escape -- $words[$start..]) "$current")
    end
end

complete -c lanyard -f -k -a '(__lanyard_complete)'
complete -c git-credential-lanyard -f -k -a '(__lanyard_complete)'
