/** Builds certificates for the servers of tests by hand: Node reads certificates, but has nothing that creates them. */
import { generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from "node:crypto";
import { isIP } from "node:net";

export interface Identity {
  /** PEM. */
  key: string;
  cert: string;
}

export interface Wanted {
  /** Host names and IPv4 addresses. */
  names: string[];
  from?: Date;
  until?: Date;
}

export interface Authority {
  /** PEM, for clients that must trust it. */
  cert: string;
  vouchFor(wanted: Wanted): Identity;
}

const day = 86_400_000;
const yesterday = new Date(Date.now() - day);
const tomorrow = new Date(Date.now() + day);

export function makeAuthority(name = "Authority of a test"): Authority {
  const keys = makeKeys();
  const signer = { name, key: keys.privateKey };
  const period = [yesterday, tomorrow] as const;
  const isAuthority = extension("2.5.29.19", sequence(boolean(true)));
  const cert = certificate(name, keys.publicKey, period, isAuthority, signer);
  return { cert, vouchFor: (wanted) => identity(wanted, makeKeys(), () => signer) };
}

export function selfSigned(wanted: Wanted): Identity {
  return identity(wanted, makeKeys(), (name, key) => ({ name, key }));
}

interface Signer {
  name: string;
  key: KeyObject;
}

function identity(
  { names, from = yesterday, until = tomorrow }: Wanted,
  keys: Keys,
  signerOf: (name: string, key: KeyObject) => Signer,
): Identity {
  const subject = names[0]!;
  const signer = signerOf(subject, keys.privateKey);
  const alternatives = extension("2.5.29.17", sequence(...names.map(altName)));
  return {
    key: keys.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    cert: certificate(subject, keys.publicKey, [from, until], alternatives, signer),
  };
}

type Keys = ReturnType<typeof makeKeys>;

function makeKeys() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** Encodes a certificate as in RFC 5280. */
function certificate(
  subject: string,
  publicKey: KeyObject,
  [from, until]: readonly [Date, Date],
  extension: Buffer,
  signer: Signer,
): string {
  const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
  const version3 = tagged(0xa0, tagged(0x02, Buffer.of(2)));
  const serial = tagged(0x02, Buffer.of(1), randomBytes(8));
  const signed = sequence(
    version3,
    serial,
    ecdsaWithSha256,
    commonName(signer.name),
    sequence(time(from), time(until)),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(extension)),
  );
  const signature = sign("sha256", signed, signer.key);
  const whole = sequence(signed, ecdsaWithSha256, tagged(0x03, Buffer.of(0), signature));
  return new X509Certificate(whole).toString();
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), boolean(true), tagged(0x04, value));
}

function commonName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("2.5.4.3"), tagged(0x0c, Buffer.from(name)))));
}

function altName(name: string): Buffer {
  return isIP(name) === 4 ? tagged(0x87, Buffer.from(name.split(".").map(Number))) : tagged(0x82, Buffer.from(name));
}

function time(date: Date): Buffer {
  return tagged(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, "")));
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.of(value ? 0xff : 0));
}

function oid(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first! * 40 + second!, ...rest.flatMap(base128)]));
}

function base128(number: number): number[] {
  const low = number % 128;
  const high = Math.floor(number / 128);
  return high === 0 ? [low] : [...base128(high).map((part) => part | 0x80), low];
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const lengths = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengths]), content]);
}
