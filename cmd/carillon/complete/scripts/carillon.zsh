#compdef carillon
# Completion of carillon for zsh.
_carillon() {
    local line files=
    local -a found folders
    for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            '') ;;
            :files) files=1 ;;
            */) folders+=("$line") ;;
            *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            *) found+=("${line//:/\\:}") ;;
        esac
    done
    (( ${#found} )) && _describe -t values value found
    (( ${#folders} )) && compadd -S '' -- "${folders[@]}"
    [[ -n $files ]] && _files
    return 0
}
if [[ ${funcstack[1]} == _carillon ]]; then
    _carillon "$@"
else
    compdef _carillon carillon
fi
