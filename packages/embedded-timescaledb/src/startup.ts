/** The first packet of a connection, which has no type letter. */

import { ProtocolViolation } from "./wire-messages.js";

export type FirstPacket =
  /** SSLRequest and GSSENCRequest: the client asks for encryption before it starts. */
  | { kind: "encryption" }
  /** CancelRequest: cancels the statement of the client with this number, if the secret is right. */
  | { kind: "cancel"; client: number; secret: number }
  | { kind: "startup"; startup: Startup };

export interface Startup {
  user: string;
  /** Settings for the session by name, such as `application_name`, including those in `options`. */
  settings: Record<string, string>;
  /** Whether the client requests a minor version above 3.0. */
  newer: boolean;
  /** Names of protocol options (`_pq_.…`). None is supported. */
  protocolOptions: string[];
}

const cancelRequest = 80877102;
const encryptionRequests = [80877103, 80877104];

/** @throws ProtocolViolation if the packet does not belong to version 3 of the protocol */
export function readFirstPacket(packet: Buffer): FirstPacket {
  if (packet.length < 8)
    throw new ProtocolViolation(`expected a start-up packet of 8 bytes or more, got ${packet.length}`);
  const code = packet.readInt32BE(4);
  if (encryptionRequests.includes(code)) return { kind: "encryption" };
  if (code === cancelRequest) return readCancel(packet);
  if (code >> 16 !== 3)
    throw new ProtocolViolation(`expected protocol version 3, got version ${code >> 16}.${code & 0xffff}`);
  const parameters = readParameters(packet.toString("utf8", 8));
  return {
    kind: "startup",
    startup: { ...split(parameters), newer: (code & 0xffff) > 0 },
  };
}

function readCancel(packet: Buffer): FirstPacket {
  if (packet.length !== 16) throw new ProtocolViolation(`expected a cancel request of 16 bytes, got ${packet.length}`);
  return {
    kind: "cancel",
    client: packet.readInt32BE(8),
    secret: packet.readInt32BE(12),
  };
}

function readParameters(body: string): Map<string, string> {
  const words = body.split("\0");
  const parameters = new Map<string, string>();
  for (let i = 0; i + 1 < words.length && words[i] !== ""; i += 2) parameters.set(words[i]!, words[i + 1]!);
  return parameters;
}

/** The name of the database is ignored, because there is only one. */
function split(parameters: Map<string, string>): Omit<Startup, "newer"> {
  const { user = "", database, options, replication, ...settings } = Object.fromEntries(parameters);
  void database;
  if (replication && !/^(false|off|no|0)$/i.test(replication))
    throw new ProtocolViolation("the embedded database does not support replication");
  const names = Object.keys(settings);
  const protocolOptions = names.filter((name) => name.startsWith("_pq_."));
  for (const name of protocolOptions) delete settings[name];
  const allSettings = { ...readOptions(options ?? ""), ...settings };
  if (Object.keys(allSettings).some((name) => /^max_stack_depth$/i.test(name)))
    throw new ProtocolViolation("max_stack_depth cannot be changed: the embedded database has a stack of a fixed size");
  return {
    user,
    settings: allSettings,
    protocolOptions,
  };
}

/**
 * Parses `-c name=value`, `-cname=value` and `--name=value`, as in PGOPTIONS. A backslash escapes a space in a value.
 */
function readOptions(options: string): Record<string, string> {
  const words = options.match(/(?:\\.|\S)+/g) ?? [];
  const plain = words.map((word) => word.replace(/\\(.)/g, "$1"));
  const settings: Record<string, string> = {};
  for (let i = 0; i < plain.length; i++) {
    const word = plain[i] === "-c" ? `-c${plain[++i] ?? ""}` : plain[i]!;
    const found = /^(?:-c|--)([^=]+)=(.*)$/s.exec(word);
    if (!found) throw new ProtocolViolation(`expected options of the form "-c name=value", got "${word}"`);
    settings[found[1]!.replaceAll("-", "_")] = found[2]!;
  }
  return settings;
}
