import { readFileSync } from "node:fs";
import { packagedFile } from "../../shared/config/package.js";

/** Returns all code of a language under a heading of a document. @throws Error where there is none */
export function codeUnder(document: string, heading: string, language = "sh"): string {
  const page = readFileSync(packagedFile(document), "utf8");
  const [, section = ""] = page.split(new RegExp(`\\n###? ${heading.replace(/[().]/g, "\\$&")}\\n`));
  const blocks = section.split(/\n##+ /)[0]!.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"));
  const code = [...blocks].map(([, block]) => block).join("");
  if (code === "") throw new Error(`${document}: no ${language} under ${heading}`);
  return code;
}
