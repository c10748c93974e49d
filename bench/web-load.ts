/** Generates load from a separate process. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { packagedFile } from "../shared/config/package.js";

export interface Taken {
  answers: number;
  bytes: number;
  tookMs: number;
}

/** @param seconds 0: each connection asks once */
export async function load(
  port: number,
  path: string,
  connections: number,
  seconds: number,
  encoding = "identity",
): Promise<Taken> {
  const client = fork(packagedFile("dist/bench/web-client.js"), [
    ...[port, path, connections, seconds, encoding].map(String),
  ]);
  const exited = once(client, "exit");
  const taken = once(client, "message") as Promise<[Taken]>;
  const [first] = await Promise.race([taken, exited]);
  if (typeof first !== "object") throw new Error("the client failed");
  await exited;
  return first as Taken;
}
