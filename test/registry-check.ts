/**
 * `make registry-check`: is the catalogue still right? Compares the hosts of its exchanges with those in the newest
 * ccxt, and its dates with today. The exit code is 1 if something has to be corrected, and 2 if ccxt cannot be fetched.
 */
import { packagedFile } from "../shared/config/package.js";
import { ageSentences, agesOf } from "../shared/registry/entry-age.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import { type CcxtHosts, comparedWithCcxt, hostsInNewestCcxt } from "./support/ccxt-hosts.js";

const registry = await loadRegistry(packagedFile("registry/all.json"));
const ages = agesOf(registry, new Date());
const ended = ages.ends.filter(({ daysLeft }) => daysLeft <= 0);

print("Entries whose sources have to be read again, and what ends or has ended", ageSentences(ages));

const ccxt = newestCcxt();
const { unexplained, explained, outdated } = comparedWithCcxt(registry.venues, ccxt);
print(`Not in ccxt ${ccxt.version}, as the entry explains`, explained);
print("Explanations that are no longer needed", outdated);
print(
  `Not in ccxt ${ccxt.version}: correct the host, or say in ccxt.differs of the entry why it is right`,
  unexplained,
);

const faults = unexplained.length + outdated.length + ages.aged.length + ages.undated.length + ended.length;
process.stdout.write(
  faults === 0
    ? `\nThe hosts of ${registry.venues.filter((venue) => venue.ccxt).length} exchanges are those of ccxt or explained, and no entry is old.\n`
    : `\n${faults} to correct.\n`,
);
process.exitCode = faults === 0 ? 0 : 1;

function newestCcxt(): CcxtHosts {
  try {
    return hostsInNewestCcxt(registry.venues.flatMap((venue) => venue.ccxt?.id ?? []));
  } catch (error) {
    process.stderr.write(`\nThe hosts were not compared: ${(error as Error).message}\n`);
    process.exit(2);
  }
}

function print(title: string, lines: string[]): void {
  if (lines.length > 0) process.stdout.write(`\n${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`);
}
