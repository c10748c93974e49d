import type { Commands, Given } from "../cli/command.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { readSettings } from "../../shared/config/settings.js";
import { bashScript } from "./completion/bash-script.js";
import { fishScript } from "./completion/fish-script.js";
import { type Place, placesIn } from "./completion/places.js";
import { zshScript } from "./completion/zsh-script.js";
import { oneOf } from "./one-of.js";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } satisfies Record<
  string,
  (places: readonly Place[]) => string
>;

const shells = Object.keys(scripts) as (keyof typeof scripts)[];

export const help = `Prints a script that completes commands, actions, options, and the venues of the registry. Load it
where your shell starts:

  bash  source <(venuewatch completion bash)      in ~/.bashrc
  zsh   source <(venuewatch completion zsh)       in ~/.zshrc
  fish  venuewatch completion fish | source       in ~/.config/fish/config.fish`;

export const words = [shells.join("|")];

export async function run({ words: [word] }: Given, commands: Commands): Promise<void> {
  const shell = oneOf("completion", shells, word);
  const registry = await loadRegistry(readSettings().registry);
  const ids = watchedVenues(registry).map(({ id }) => id);
  process.stdout.write(scripts[shell](await placesIn(commands, ids)));
}
