/** What `venuewatch check` concludes from evidence of each cause. */
import { type Culprit, harmlessClockErrorMs } from "../../server/cli/check/verdict.js";
import type { Evidence, QuorumComponent } from "../../server/cli/check/evidence.js";
import { bad, confirmed, controls, part, refused, silent, untried } from "./evidence.js";

const away = bad("rest:time", "timeout");
const nothing = [away, bad("ws:conn", "timeout")];
const unresolved = untried("rest:time", "resolver");

interface Claim {
  state?: "outage" | "degraded";
  /** Default: the venue's. */
  componentState?: QuorumComponent["state"];
  agreeing?: number;
  fault?: string;
  because?: "never" | "ended" | "blocked";
}

export function ofQuorum(component: string, { state, componentState, agreeing = 3, fault, because }: Claim = {}) {
  const venueState = state ?? "operational";
  const unknownBecause = because ? { reason: because, detail: `${because} from here` } : null;
  const seen = { component, state: componentState ?? venueState, agreeing, counted: 3 };
  return confirmed({ state: venueState, components: [{ ...seen, fault: fault ?? null, unknownBecause }] });
}

/** Of a proxy that answers for every name. */
const fakeAddress = { name: "rest-ticker.example.org", address: "198.18.0.7", kind: "reserved" };
const sharedSocket = { ...bad("ws:book", "timeout"), sharedWith: ["ws:trades"] };
export const outage = ofQuorum("rest:time", { state: "outage", agreeing: 2 });
const minuteAhead = { errorMs: 60_000, withinMs: 300 };

interface VerdictCase {
  what: string;
  spoiled: Partial<Evidence>;
  gives: [culprit: Culprit, code: number];
  summary?: RegExp;
}

export const verdictCases: readonly VerdictCase[] = [
  { what: "all is well", spoiled: {}, gives: ["nobody", 0], summary: /^nothing is wrong: / },
  {
    what: "an outage that is seen here, too",
    spoiled: { quorum: outage, here: nothing },
    gives: ["venue", 2],
    summary: /^it is the venue: it is in state outage since \S+: rest:time outage, as 2 of 3 regions agree$/,
  },
  { what: "an outage while it works here", spoiled: { quorum: outage }, gives: ["venue", 2] },
  {
    what: "an outage while nothing is reached here",
    spoiled: { quorum: outage, here: nothing, controls: controls(away) },
    gives: ["venue", 2],
  },
  {
    what: "an outage while this address is limited",
    spoiled: { quorum: outage, here: [bad("rest:time", "limited", 429)] },
    gives: ["venue", 2],
  },
  { what: "an outage and a wrong clock", spoiled: { quorum: outage, clock: minuteAhead }, gives: ["venue", 2] },
  {
    what: "a degraded venue",
    spoiled: { quorum: ofQuorum("ws:conn", { state: "degraded" }) },
    gives: ["venue", 1],
    summary: /^it is the venue: it is in state degraded since /,
  },
  {
    what: "a bad component of a venue that is not called degraded yet",
    spoiled: {
      quorum: ofQuorum("ws:conn", { componentState: "outage", agreeing: 2 }),
      here: [part("rest:time"), bad("ws:conn", "handshake", 403)],
    },
    gives: ["venue", 1],
  },
  {
    what: "a venue that limits the regions' requests",
    spoiled: { quorum: ofQuorum("rest:time", { state: "degraded", agreeing: 2, fault: "limited" }) },
    gives: ["venue", 1],
    summary:
      /^the venue limits requests, those of the service included, and is not down: rest:time degraded, as 2 of 3/,
  },
  {
    what: "a venue that limits the regions' requests, and fails in another way",
    spoiled: {
      quorum: confirmed({
        state: "degraded",
        components: (["limited", "http"] as const).map((fault, at) => ({
          ...{ component: ["rest:time", "rest:ticker"][at]!, state: "degraded", agreeing: 2, counted: 3 },
          ...{ fault, unknownBecause: null },
        })),
      }),
    },
    gives: ["venue", 1],
  },
  {
    what: "a venue that says that it does not trade, before the regions have confirmed it",
    spoiled: { here: [part("rest:ticker"), bad("rest:time", "halted", 200)] },
    gives: ["venue", 1],
    summary: /itself says that it does not trade \(rest:time\)$/,
  },
  {
    what: "such a venue, while the service is away",
    spoiled: { quorum: silent, here: [bad("rest:time", "halted", 200)] },
    gives: ["venue", 1],
  },
  {
    what: "such a venue, of which a quorum sees the outage",
    spoiled: { quorum: outage, here: [bad("rest:time", "halted", 200)] },
    gives: ["venue", 2],
  },
  {
    what: "a limit in the words of an answer",
    spoiled: { here: [bad("rest:time", "limited", 200)] },
    gives: ["rate-limit", 21],
    summary: /\(status 200, in the words of its answer\)/,
  },
  {
    what: "451 here, and for the service, too",
    spoiled: {
      quorum: ofQuorum("rest:time", { componentState: "unknown", because: "blocked" }),
      here: [bad("rest:time", "blocked", 451)],
    },
    gives: ["unknown", 3],
    summary: /rest:time blocked.* because the venue refuses rest:time to the place of the service$/,
  },
  {
    what: "a fault of what the service has never seen good",
    spoiled: {
      here: [bad("rest:time", "connect")],
      quorum: ofQuorum("rest:time", { componentState: "unknown", because: "never" }),
    },
    gives: ["unknown", 3],
    summary: /because the service has never seen rest:time good from its place$/,
  },
  {
    what: "403 here",
    spoiled: { here: [bad("rest:time", "blocked", 403)] },
    gives: ["place", 20],
    summary: /403/,
  },
  {
    what: "451 here",
    spoiled: { here: [bad("rest:time", "blocked", 451)] },
    gives: ["place", 20],
    summary: /451/,
  },
  {
    what: "a block in the words of an answer",
    spoiled: { here: [bad("rest:time", "blocked", 200)] },
    gives: ["place", 20],
    summary: /status 200, in the words of its answer/,
  },
  {
    what: "429 here",
    spoiled: { here: [bad("rest:time", "limited", 429)] },
    gives: ["rate-limit", 21],
    summary: /429/,
  },
  {
    what: "418 here",
    spoiled: { here: [bad("rest:time", "limited", 418)] },
    gives: ["rate-limit", 21],
    summary: /418/,
  },
  {
    what: "429 here, and a proxy that gives out addresses of its own",
    spoiled: {
      here: [bad("rest:time", "limited", 429)],
      oddAddresses: [{ ...fakeAddress, name: "rest-time.example.org" }],
    },
    gives: ["rate-limit", 21],
  },
  {
    what: "451 here, and such a proxy",
    spoiled: {
      here: [bad("rest:time", "blocked", 451)],
      oddAddresses: [{ ...fakeAddress, name: "rest-time.example.org" }],
    },
    gives: ["place", 20],
  },
  {
    what: "503 here alone",
    spoiled: { here: [bad("rest:time", "http", 503)] },
    gives: ["unknown", 3],
    summary: /rest:time http.*may not have confirmed it yet/,
  },
  { what: "a broken answer here alone", spoiled: { here: [bad("rest:time", "body")] }, gives: ["unknown", 3] },
  {
    what: "an upgrade that fails in the server",
    spoiled: { here: [bad("ws:conn", "handshake", 502)] },
    gives: ["unknown", 3],
  },
  {
    what: "an upgrade that is refused",
    spoiled: { here: [bad("ws:conn", "handshake", 404)] },
    gives: ["place", 20],
    summary: /^the venue, or the way to it, fails this country or network alone \(ws:conn handshake\)/,
  },
  {
    what: "a refused connection here alone",
    spoiled: { here: [bad("rest:time", "connect")] },
    gives: ["place", 20],
  },
  {
    what: "data that stand still here alone",
    spoiled: { here: [bad("rest:time", "stale", 200)] },
    gives: ["unknown", 3],
  },
  ...(["limited", "blocked", "connect", "dns", "http"] as const).flatMap((fault): VerdictCase[] => [
    {
      what: `${fault} of an endpoint that the regions do not know`,
      spoiled: { here: [part("ws:conn"), bad("rest:new", fault)] },
      gives: ["unknown", 3],
      summary: /because the regions do not know rest:new$/,
    },
    {
      what: `${fault} of an endpoint of which the regions know too little`,
      spoiled: { here: [bad("rest:time", fault)], quorum: ofQuorum("rest:time", { componentState: "unknown" }) },
      gives: ["unknown", 3],
      summary: /because the regions have too little evidence of rest:time$/,
    },
  ]),
  {
    what: "a certificate of somebody else at an endpoint that the regions do not know",
    spoiled: {
      here: [part("rest:time"), bad("rest:new", "tls")],
      refusedCertificate: refused("SELF_SIGNED_CERT_IN_CHAIN", { host: "rest-new.example.org" }),
    },
    gives: ["unknown", 3],
  },
  {
    what: "a socket of two streams, one of which the regions know",
    spoiled: { here: [sharedSocket], quorum: ofQuorum("ws:trades") },
    gives: ["place", 20],
  },
  {
    what: "a socket of two streams, one of which a quorum sees fail",
    spoiled: { here: [sharedSocket], quorum: ofQuorum("ws:trades", { componentState: "outage" }) },
    gives: ["venue", 1],
  },
  {
    what: "a socket that a firewall blocks",
    spoiled: { here: [part("rest:time"), bad("ws:conn", "timeout")] },
    gives: ["place", 20],
    summary: /ws:conn timeout/,
  },
  {
    what: "such a socket, while no other venue shows that this machine reaches any",
    spoiled: { here: [part("rest:time"), bad("ws:conn", "timeout")], controls: [] },
    gives: ["unknown", 3],
    summary: /because no other venue of the registry answers here for comparison$/,
  },
  {
    what: "a fault that one region sees, too",
    spoiled: { here: [away], quorum: { ...ofQuorum("rest:time", { agreeing: 2 }), dissenting: ["us-east"] } },
    gives: ["place", 20],
    summary: /every place: 1 of 3 regions does not agree that rest:time works, while most/,
  },
  {
    what: "a fault that one region sees, whose name is not known",
    spoiled: { here: [away], quorum: { ...ofQuorum("rest:time", { agreeing: 2 }), dissenting: null } },
    gives: ["place", 20],
    summary: /every place: 1 of 3 regions does not agree that rest:time works, while most/,
  },
  {
    what: "a fault that one region sees, while another one has too few samples to vote",
    spoiled: { here: [away], quorum: { ...ofQuorum("rest:time", { agreeing: 1 }), dissenting: ["us-east"] } },
    gives: ["place", 20],
    summary: /1 of 3 regions does not agree that rest:time works/,
  },
  {
    what: "a fault here, while a region sees trouble of another component",
    spoiled: { here: [away], quorum: { ...ofQuorum("rest:time"), dissenting: ["us-east"] } },
    gives: ["place", 20],
    summary: /^the venue, or the way to it, fails .* alone/,
  },
  {
    what: "a fault here, while a region has too few samples to vote",
    spoiled: { here: [away], quorum: ofQuorum("rest:time", { agreeing: 2 }) },
    gives: ["place", 20],
  },
  {
    what: "no way out",
    spoiled: { here: nothing, controls: controls(away) },
    gives: ["network", 22],
    summary: /: 4 of 4 other venues cannot be reached from here, either$/,
  },
  {
    what: "no way out, and the service is away",
    spoiled: { quorum: silent, here: nothing, controls: controls(away) },
    gives: ["network", 22],
  },
  {
    what: "most others away",
    spoiled: { here: nothing, controls: controls(away).with(1, { venue: "beta", measured: part("rest:time") }) },
    gives: ["network", 22],
    summary: /3 of 4 other venues/,
  },
  {
    what: "no socket left",
    spoiled: { here: [untried("rest:time", "sockets")] },
    gives: ["network", 22],
    summary: /^it is this machine: it has no socket, port or memory left$/,
  },
  {
    what: "a dead resolver",
    spoiled: { quorum: silent, here: [unresolved], controls: controls(unresolved) },
    gives: ["resolver", 23],
    summary: /: no name resolves here$/,
  },
  {
    what: "a resolver without this name",
    spoiled: { here: [bad("rest:time", "dns")] },
    gives: ["resolver", 23],
    summary: /: it does not know the venue's name, which resolves elsewhere$/,
  },
  {
    what: "a resolver that lies",
    spoiled: {
      here: [part("rest:ticker"), bad("rest:time", "connect")],
      oddAddresses: [fakeAddress, { name: "rest-time.example.org", address: "127.0.0.1", kind: "loopback" }],
    },
    gives: ["resolver", 23],
    summary: /leads rest-time\.example\.org to 127\.0\.0\.1, and that is loopback/,
  },
  {
    what: "an odd address of another name than the one that fails",
    spoiled: { here: [part("rest:ticker"), bad("ws:conn", "connect")], oddAddresses: [fakeAddress] },
    gives: ["place", 20],
  },
  {
    what: "an internal name that works",
    spoiled: { oddAddresses: [{ name: "node.internal", address: "10.0.0.1", kind: "private" }] },
    gives: ["nobody", 0],
  },
  {
    what: "a certificate of somebody else",
    spoiled: { here: [bad("rest:time", "tls")], refusedCertificate: refused("SELF_SIGNED_CERT_IN_CHAIN") },
    gives: ["interception", 24],
    summary: /Box of the office for rest-time\.example\.org \(SELF_SIGNED_CERT_IN_CHAIN\)/,
  },
  {
    what: "a proxy before everything, the service included",
    spoiled: {
      quorum: silent,
      here: [bad("rest:time", "tls")],
      controls: controls(bad("rest:time", "tls")),
      refusedCertificate: refused("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"),
      clock: null,
    },
    gives: ["interception", 24],
  },
  {
    what: "a certificate that ended at one server of the venue",
    spoiled: { here: [bad("rest:time", "tls")], refusedCertificate: refused("CERT_HAS_EXPIRED") },
    gives: ["place", 20],
  },
  {
    what: "a certificate that is not valid yet by a clock that is wrong",
    spoiled: {
      here: [bad("rest:time", "tls")],
      refusedCertificate: refused("CERT_NOT_YET_VALID"),
      at: new Date("2025-12-01"),
      clock: { errorMs: Date.parse("2025-12-01") - Date.parse("2026-02-01"), withinMs: 300 },
    },
    gives: ["clock", 25],
    summary: /behind: by its time the venue's certificate is not valid$/,
  },
  {
    what: "a clock that is wrong by years",
    spoiled: {
      quorum: silent,
      here: [bad("rest:time", "tls")],
      controls: controls(bad("rest:time", "tls")),
      refusedCertificate: refused("CERT_NOT_YET_VALID"),
      clock: null,
    },
    gives: ["clock", 25],
    summary: /^it is this machine's clock: by its time the venue's certificate is not valid$/,
  },
  {
    what: "a clock that is a minute ahead",
    spoiled: { clock: minuteAhead },
    gives: ["clock", 25],
    summary: /60\.0 s ahead/,
  },
  {
    what: "a clock that may be right",
    spoiled: { clock: { errorMs: harmlessClockErrorMs + 200, withinMs: 300 } },
    gives: ["nobody", 0],
  },
  { what: "a clock that cannot be compared", spoiled: { clock: null }, gives: ["nobody", 0] },
  {
    what: "a venue that the registry lacks",
    spoiled: { here: [] },
    gives: ["nobody", 0],
    summary: /not measured from here, because the registry \(REGISTRY\) has no endpoint/,
  },
  {
    what: "a clock that is a minute ahead, while nothing of the venue was measured",
    spoiled: { here: [], clock: minuteAhead },
    gives: ["nobody", 0],
  },
  { what: "an outage of such a venue", spoiled: { here: [], quorum: outage }, gives: ["venue", 2] },
  {
    what: "a service that is away, while it works here",
    spoiled: { quorum: silent },
    gives: ["unknown", 3],
    summary: /because the service is away$/,
  },
  {
    what: "a service that is away, and 503 here",
    spoiled: { quorum: silent, here: [bad("rest:time", "http", 503)] },
    gives: ["unknown", 3],
    summary: /^it fails here \(rest:time http\); whether only here is unknown, because the service is away$/,
  },
  {
    what: "a service that is away, a wrong clock, and 503 here, which no clock explains",
    spoiled: { quorum: silent, here: [bad("rest:time", "http", 503)], clock: minuteAhead },
    gives: ["unknown", 3],
  },
  {
    what: "a service that is away, and 429 here",
    spoiled: { quorum: silent, here: [bad("rest:time", "limited", 429)] },
    gives: ["unknown", 3],
  },
  {
    what: "nothing to compare with",
    spoiled: { here: nothing, controls: [] },
    gives: ["unknown", 3],
    summary: /no other venue/,
  },
  {
    what: "nothing at all",
    spoiled: { quorum: silent, here: [] },
    gives: ["unknown", 3],
    summary: /^it could not be measured from here, and the service is away$/,
  },
  {
    what: "a part that could not be measured",
    spoiled: { here: [part("rest:time"), untried("ws:conn", "starved")] },
    gives: ["unknown", 3],
    summary: /no trouble, but ws:conn could not be measured \(starved\)$/,
  },
  {
    what: "a slow part that was not waited for",
    spoiled: { here: [untried("rest:time", "no whole answer within 3.0 s")] },
    gives: ["unknown", 3],
    summary: /no trouble, but rest:time could not be measured \(no whole answer within 3\.0 s\)$/,
  },
];
