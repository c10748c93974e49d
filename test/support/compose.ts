/** Reads compose.yaml as compose does where no variable is set. */
import { readFileSync } from "node:fs";
import { parseYaml } from "@redocly/openapi-core";
import { packagedFile } from "../../shared/config/package.js";

export interface ComposeService {
  image: string;
  pull_policy?: string;
  build?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
  tmpfs?: string[];
  ports?: string[];
  networks?: string[];
  network_mode?: string;
  profiles?: string[];
  depends_on?: Record<string, { condition: string; required?: boolean }>;
  healthcheck?: { test: string[] };
  restart: string;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  privileged?: boolean;
  security_opt?: string[];
  init?: boolean;
  user?: string;
  cpus?: number | string;
  mem_limit?: string;
  pids_limit?: number;
  ulimits?: { data?: number };
  stop_grace_period?: string;
  logging?: { options: Record<string, string> };
}

export interface Compose {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Record<string, { file: string }>;
  volumes: Record<string, object>;
}

export const composeText = readFileSync(packagedFile("compose.yaml"), "utf8");

/** Reads the file as compose does with these variables; `$$` is a dollar. */
export function composeWith(variables: Record<string, string | undefined>) {
  return parseYaml(
    composeText
      .replace(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, otherwise: string) => variables[name] || otherwise)
      .replaceAll("$$", "$"),
  ) as Compose;
}

export const compose = composeWith({});
