export const SHELLS = ["bash", "zsh", "fish"] as const;

/**
 * The completion script of each shell. Each asks the program itself for the words that may follow, with `--complete` and the
 * words so far; where it has none, the shell completes file names. That of bash runs in version 3.2, too, which macOS has.
 */
export const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `\
_tollkeeper() {
  local found
  COMPREPLY=()
  while IFS= read -r found; do
    [[ -n $found ]] && COMPREPLY+=("$found")
  done <<< "$(tollkeeper --complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
}
complete -o default -F _tollkeeper tollkeeper`,
  zsh: `\
#compdef tollkeeper
_tollkeeper() {
  local -a found
  found=(\${(f)"$(tollkeeper --complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then _tollkeeper "$@"; else compdef _tollkeeper tollkeeper; fi`,
  fish: `\
complete -c tollkeeper -a '(tollkeeper --complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
};
