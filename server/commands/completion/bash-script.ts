import type { Place } from "./places.js";
import { quoted } from "./quoted.js";

/**
 * For bash 3.2 and later, so without associative arrays. A function knows what follows each place; another walks along
 * the words before the cursor to the place, and offers what begins like the word at the cursor.
 */
export function bashScript(places: readonly Place[]): string {
  return `# Completion of venuewatch for bash. Load it with: source <(venuewatch completion bash)

_venuewatch_at() {
  _venuewatch_names= _venuewatch_options= _venuewatch_valued= _venuewatch_words=()
  case $1 in
${places.map(caseOf).join("\n")}
  esac
}

_venuewatch_values() {
  case "$1 $2" in
${places.flatMap(valueCases).join("\n")}
  esac
}

_venuewatch() {
  local current=\${COMP_WORDS[COMP_CWORD]} place= count=0 valued= word i
  COMPREPLY=()
  _venuewatch_at ""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # bash splits --name=value into three words
    if [[ $word == "=" ]]; then continue; fi
    if [[ -n $valued ]]; then
      valued=
    elif [[ $word == -* ]]; then
      if [[ " $_venuewatch_valued " == *" $word "* ]]; then valued=$word; fi
    elif [[ " $_venuewatch_names " == *" $word "* ]]; then
      place=\${place:+$place }$word
      _venuewatch_at "$place"
    else
      count=$((count + 1))
    fi
  done
  if [[ $current == "=" ]]; then current=; fi
  if [[ -n $valued ]]; then
    COMPREPLY=($(compgen -W "$(_venuewatch_values "$place" "$valued")" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$_venuewatch_options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$_venuewatch_names \${_venuewatch_words[count]-}" -- "$current"))
  fi
}

complete -o default -F _venuewatch venuewatch
`;
}

function caseOf({ path, names, options, words }: Place): string {
  const valued = options.filter(({ takesValue }) => takesValue);
  return [
    `    ${quoted(path)})`,
    `      _venuewatch_names=${quoted(spaced(names))}`,
    `      _venuewatch_options=${quoted(spaced(options))}`,
    `      _venuewatch_valued=${quoted(spaced(valued))}`,
    `      _venuewatch_words=(${words.map((offered) => quoted(offered.join(" "))).join(" ")})`,
    "      ;;",
  ].join("\n");
}

function valueCases({ path, options }: Place): string[] {
  const offering = options.filter(({ values }) => values.length > 0);
  return offering.map(({ name, values }) => `    ${quoted(`${path} ${name}`)}) echo ${quoted(values.join(" "))} ;;`);
}

function spaced(named: readonly { name: string }[]): string {
  return named.map(({ name }) => name).join(" ");
}
