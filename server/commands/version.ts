import { version } from "../../shared/config/package.js";

export const help = `Prints the version of this build.`;

export function run(): Promise<void> {
  process.stdout.write(`${version}\n`);
  return Promise.resolve();
}
