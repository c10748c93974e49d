import type { Described, Place } from "./places.js";
import { quoted } from "./quoted.js";

/** Walks along the words as the script for bash does, and shows what each word means. */
export function zshScript(places: readonly Place[]): string {
  return `#compdef venuewatch
# Completion of venuewatch for zsh. Load it with: source <(venuewatch completion zsh)

_venuewatch_at() {
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
  local place= valued= word count=0 i
  local -a names bare flags valued_flags arguments values
  _venuewatch_at ""
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    bare=(\${names%%:*})
    if [[ -n $valued ]]; then
      valued=
    elif [[ $word == -* ]]; then
      if (( $valued_flags[(Ie)$word] )); then valued=$word; fi
    elif (( $bare[(Ie)$word] )); then
      place=\${place:+$place }$word
      _venuewatch_at "$place"
    else
      count=$((count + 1))
    fi
  done
  if [[ -n $valued ]]; then
    _venuewatch_values "$place" "$valued"
    compadd -a values
  elif [[ $PREFIX == -* ]]; then
    _describe -o option flags
  else
    if (( $#names )); then _describe command names; fi
    values=(\${=arguments[count + 1]})
    compadd -a values
  fi
}

if (( ! $+functions[compdef] )); then autoload -Uz compinit && compinit; fi
compdef _venuewatch venuewatch
`;
}

function caseOf({ path, names, options, words }: Place): string {
  const valued = options.filter(({ takesValue }) => takesValue);
  const described = options.map(({ name, help }) => ({ name, summary: help }));
  return [
    `    ${quoted(path)})`,
    `      names=(${names.map(entryOf).join(" ")})`,
    `      flags=(${described.map(entryOf).join(" ")})`,
    `      valued_flags=(${valued.map(({ name }) => quoted(name)).join(" ")})`,
    `      arguments=(${words.map((offered) => quoted(offered.join(" "))).join(" ")})`,
    "      ;;",
  ].join("\n");
}

function valueCases({ path, options }: Place): string[] {
  const offering = options.filter(({ values }) => values.length > 0);
  return offering.map(
    ({ name, values }) => `    ${quoted(`${path} ${name}`)}) values=(${values.map(quoted).join(" ")}) ;;`,
  );
}

/** `name:summary`, where a colon in the name would end it. */
function entryOf({ name, summary }: Described): string {
  return quoted(`${name.replaceAll(":", "\\:")}:${summary}`);
}
