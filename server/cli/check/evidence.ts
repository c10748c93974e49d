/** What `check` knows when it decides: what the service's regions say, and what this machine measured. */
import type { StateName, VenueStateBody } from "../../web/agents/agent-source.js";
import type { MeasuredPart } from "../measured-once.js";

export interface Evidence {
  /** The id that the user gave. */
  venue: string;
  quorum: Quorum;
  /** The venue's endpoints and sockets that were tried from here. Empty: the registry has no endpoint of it. */
  here: readonly MeasuredPart[];
  /** Other venues, one endpoint each. */
  controls: readonly Control[];
  /** Names of the venue that lead to an address which is not public: `{name, address, kind: "private"}`. */
  oddAddresses: readonly OddAddress[];
  /** The certificate that a server of the venue presented here; null: none was refused. */
  refusedCertificate: RefusedCertificate | null;
  /** This machine's clock minus that of most hosts; null: fewer than three agree. */
  clock: ClockOffset | null;
  /** When it was measured, by this machine's clock. */
  at: Date;
}

/** What a quorum of the service's regions says of the venue. */
export type Quorum =
  | {
      kind: "confirmed";
      state: Exclude<StateName, "unknown">;
      /** An instant in ISO 8601. */
      since: string;
      components: readonly QuorumComponent[];
      /** Regions with a vote that see trouble of the venue by themselves, of any component; null: not known. */
      dissenting: readonly string[] | null;
      /** Slugs of open incidents. */
      incidents: readonly string[];
    }
  /** It says nothing that can be relied on, for this reason: a sentence without its full stop. */
  | { kind: "silent"; reason: string };

export interface QuorumComponent {
  component: string;
  state: StateName;
  /** Regions that see this state, of those whose votes count. */
  agreeing: number;
  counted: number;
  /** What it mostly is, if it is degraded or in outage. */
  fault: string | null;
  /** Why it is unknown although it is measured. */
  unknownBecause: VenueStateBody["components"][number]["unknownBecause"];
}

/** What the venue declares of deposits and withdrawals, as the service read it. No evidence: nobody measured it. */
export interface DeclaredTransfers {
  paused: readonly DeclaredLine[];
  /** What the venue changes too often to be believed. */
  unstable: readonly DeclaredLine[];
  /** Why nothing is known; null: its list was read. */
  because: string | null;
}

interface DeclaredLine {
  direction: "withdrawal" | "deposit";
  asset: string;
  network: string | null;
}

export interface Control {
  venue: string;
  measured: MeasuredPart;
}

export interface OddAddress {
  name: string;
  address: string;
  /** Worded to follow "is": private, loopback, reserved. */
  kind: string;
}

export interface RefusedCertificate {
  host: string;
  /** Node's code, such as `SELF_SIGNED_CERT_IN_CHAIN`. */
  code: string;
  /** Who signed it, as the certificate says; a plain text. */
  issuer: string;
  validFrom: Date;
  validUntil: Date;
}

export interface ClockOffset {
  /** Positive: this clock is ahead. */
  errorMs: number;
  /** Maximum error of `errorMs`. */
  withinMs: number;
}

/** A part that was measured and is not good. */
export function isBad({ fault }: MeasuredPart): boolean {
  return fault !== null;
}

export function isGood({ fault, unmeasured }: MeasuredPart): boolean {
  return fault === null && unmeasured === null;
}

/** The host itself answered, whatever it said, so there is a way to it. */
export function answered({ fault, unmeasured, httpStatus }: MeasuredPart): boolean {
  const answers = ["http", "blocked", "limited", "halted", "body", "stale", "handshake"];
  return httpStatus !== null || (unmeasured === null && (fault === null || answers.includes(fault)));
}

/** All components that it stands for: streams may share a socket. */
export function componentsIn({ component, sharedWith }: MeasuredPart): readonly string[] {
  return [component, ...sharedWith];
}

/** Why the service knows nothing of a venue or a component, although it measures it; null for want of evidence. */
export function ofTheService(reason: string, what: string): string | null {
  if (reason === "never") return `the service has never seen ${what} good from its place`;
  if (reason === "ended") return `the entry of ${what} in the service's registry has ended`;
  return reason === "blocked" ? `the venue refuses ${what} to the place of the service` : null;
}
