import type { Place } from "./places.js";

/** A function prints what follows each place, with its meaning after a tab. */
export function fishScript(places: readonly Place[]): string {
  return `# Completion of venuewatch for fish. Load it with: venuewatch completion fish | source

function __venuewatch_names
    switch $argv[1]
${places.flatMap(namesCase).join("\n")}
    end
end

function __venuewatch_options
    switch $argv[1]
${places.flatMap(optionsCase).join("\n")}
    end
end

function __venuewatch_valued
    switch $argv[1]
${places.flatMap(valuedCase).join("\n")}
    end
end

function __venuewatch_values
    switch "$argv[1] $argv[2]"
${places.flatMap(valueCases).join("\n")}
    end
end

function __venuewatch_words
    switch "$argv[1] $argv[2]"
${places.flatMap(wordCases).join("\n")}
    end
end

function __venuewatch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l place ''
    set -l valued ''
    set -l count 0
    for word in $words[2..-1]
        if test -n "$valued"
            set valued ''
        else if string match -q -- '-*' $word
            if contains -- $word (__venuewatch_valued "$place")
                set valued $word
            end
        else if contains -- $word (__venuewatch_names "$place" | string replace -r '\\t.*' '')
            set place (string trim -- "$place $word")
        else
            set count (math $count + 1)
        end
    end
    if test -n "$valued"
        __venuewatch_values "$place" $valued
    else if string match -q -- '-*' $current
        __venuewatch_options "$place"
    else
        __venuewatch_names "$place"
        __venuewatch_words "$place" $count
    end
end

complete -c venuewatch -f -a '(__venuewatch_complete)'
`;
}

function namesCase({ path, names }: Place): string[] {
  const lines = names.map(({ name, summary }) => `${name}\t${summary}`);
  return printingCase(path, lines);
}

function optionsCase({ path, options }: Place): string[] {
  return printingCase(
    path,
    options.map(({ name, help }) => `${name}\t${help}`),
  );
}

function valuedCase({ path, options }: Place): string[] {
  const valued = options.filter(({ takesValue }) => takesValue);
  return printingCase(
    path,
    valued.map(({ name }) => name),
  );
}

function valueCases({ path, options }: Place): string[] {
  return options.flatMap(({ name, values }) => printingCase(`${path} ${name}`, values));
}

function wordCases({ path, words }: Place): string[] {
  return words.flatMap((offered, at) => printingCase(`${path} ${at}`, offered));
}

function printingCase(pattern: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [`        case ${fishQuoted(pattern)}`, `            printf '%s\\n' ${lines.map(fishQuoted).join(" ")}`];
}

/** In fish, a backslash and a quote are escaped within single quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
