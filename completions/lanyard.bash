# bash completion for lanyard(1) and git-credential-lanyard(1); git's own completion calls _git_credential_lanyard.

_lanyard() {
    local program=lanyard answer
    # A lanyard that is not on PATH completes itself, unless it is one of the current folder, which may be anybody's.
    [[ ${1-} == /*/lanyard || ${1-} == \~/*/lanyard ]] && program=${1/#\~\//$HOME/}
    mapfile -t answer < <("$program" complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    COMPREPLY=()
    case ${answer[0]-} in
        values) COMPREPLY=("${answer[@]:1}") ;;
        files) compopt -o bashdefault -o default ;;
        command*) _lanyard_command ;;
    esac
}

# Completes the command after --, where bash-completion knows how, else as a file.
_lanyard_command() {
    local index
    for index in "${!COMP_WORDS[@]}"; do
        [[ ${COMP_WORDS[index]} == -- ]] && break
    done
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset $((index + 1))
    elif declare -F _command_offset >/dev/null; then
        _command_offset $((index + 1))
    else
        compopt -o bashdefault -o default
    fi
}

_git_credential_lanyard() {
    _lanyard lanyard
    # git's completion adds no space by itself, and files where there is nothing.
    compopt +o nospace +o bashdefault +o default
}

complete -F _lanyard lanyard git-credential-lanyard
