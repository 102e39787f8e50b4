# Completion of carillon for bash.
_carillon() {
    local line current=${COMP_WORDS[COMP_CWORD]} files=
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            files=1
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ -n $files ]]; then
        [[ $current == = ]] && current=
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "$current")
    elif [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _carillon carillon
