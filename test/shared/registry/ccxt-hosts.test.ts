/** The nightly comparison of the catalogue with ccxt, on a few fixed hosts and without the network. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import t from "tap";
import { catalogueEntry, catalogueIds } from "../../../shared/registry/catalogue.js";
import type { Venue } from "../../../shared/registry/registry.js";
import { comparedWithCcxt, hostsInWheel } from "../../support/ccxt-hosts.js";
import { pythonMissing } from "../../support/python.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

const okx = catalogueEntry("okx") as Venue;

function venue(hosts: string[], ccxt: Venue["ccxt"]): Venue {
  const rest = hosts.map((host, at) => simplestEndpoint("abc"[at]!, { url: `https://${host}/` }));
  return { ...simplestVenue("mine", ...rest), ...(ccxt ? { ccxt } : {}) };
}

function compared(one: Venue, ...theirs: string[]) {
  return comparedWithCcxt([one], { version: "1.2.3", hosts: { exchange: theirs } });
}

const clean = { unexplained: [], explained: [], outdated: [] };

void t.test("hosts that ccxt has are right, with their ports", (t) => {
  const mine = venue(["api.example", "ws.example:8443"], { id: "exchange" });
  t.strictSame(compared(mine, "api.example", "ws.example:8443", "other.example"), clean);
  t.strictSame(compared(mine, "api.example", "ws.example").unexplained, [
    "mine: ws.example:8443; ccxt's exchange has api.example, ws.example",
  ]);
  t.end();
});

void t.test("OKX's closed port would have been found", (t) => {
  const former = structuredClone(okx);
  former.socket!.url = "wss://ws.okx.com:8443/ws/v5/public";
  const hosts = { okx: ["ws.okx.com", "www.okx.com"] };
  t.strictSame(comparedWithCcxt([okx], { version: "4.5.90", hosts }).unexplained, []);
  t.strictSame(comparedWithCcxt([former], { version: "4.5.90", hosts }).unexplained, [
    "okx: ws.okx.com:8443; ccxt's okx has ws.okx.com, www.okx.com",
  ]);
  t.end();
});

void t.test("a host that ccxt does not have needs a reason, for as long as that holds", (t) => {
  const differs = [{ host: "new.example", why: "its changelog, 2026-11-01" }];
  const mine = venue(["api.example", "new.example"], { id: "exchange", differs });
  t.strictSame(compared(mine, "api.example"), {
    ...clean,
    explained: ["mine: new.example: its changelog, 2026-11-01"],
  });
  t.strictSame(compared(mine, "api.example", "new.example").outdated, ["mine: ccxt has new.example, too"]);
  const moved = venue(["api.example"], { id: "exchange", differs });
  t.strictSame(compared(moved, "api.example").outdated, ["mine: new.example is not measured any more"]);
  t.end();
});

void t.test("an exchange that cannot be compared is named, and other venues are not compared", (t) => {
  t.match(compared(venue(["api.example"], undefined)).unexplained, [
    /^mine: its entry does not say what it is in ccxt$/,
  ]);
  t.match(compared(venue(["api.example"], { id: "gone" })).unexplained, [
    /^mine: ccxt has no exchange gone, or no host/,
  ]);
  t.strictSame(compared({ ...venue(["api.example"], undefined), category: "oracle" }), clean);
  t.end();
});

void t.test("every exchange of the catalogue says what it is in ccxt", (t) => {
  const exchanges = catalogueIds().map((id) => catalogueEntry(id) as Venue);
  for (const { id, category, ccxt } of exchanges) if (category === "exchange") t.ok(ccxt, id);
  t.end();
});

void t.test("the hosts of exchanges are read from a wheel", { skip: pythonMissing }, (t) => {
  const wheel = wheelOf(t.testdir({}), {
    "base/exchange.py": "class Exchange: pass",
    "one.py": `
class one(Exchange, ImplicitAPI):
    def describe(self) -> object:
        return self.deep_extend(super(one, self).describe(), {
            'hostname': 'one.example',
            'precision': TICK_SIZE,
            'urls': {
                'logo': 'https://logo.example/x.jpg',
                'api': {'rest': 'https://api.{hostname}', 'more': {'v1': 'https://v1.one.example:443/v1'}},
                'test': {'rest': 'https://test.one.example'},
                'doc': ['https://doc.one.example'],
            },
            'api': {'public': {'get': {'https://not.an.address': 1}}},
        })

    def other(self):
        return {'url': 'https://other.one.example'}
`,
    "pro/one.py": `
class one(ccxt.async_support.one):
    def describe(self):
        return self.deep_extend(super(one, self).describe(), {'urls': {'api': {'ws': 'wss://ws.one.example:8443/ws'}}})
`,
    "two.py": `
class two(one):
    def describe(self):
        return self.deep_extend(super(two, self).describe(), {'urls': {'api': {'rest': 'https://two.example'}}})
`,
  });
  t.strictSame(hostsInWheel(wheel, ["one", "two", "three"]), {
    version: "9.8.7",
    hosts: {
      one: ["api.one.example", "v1.one.example", "ws.one.example:8443"],
      two: ["api.one.example", "two.example", "v1.one.example", "ws.one.example:8443"],
      three: [],
    },
  });
  t.throws(
    () => hostsInWheel("/nowhere.whl", ["one"]),
    /python3 .*ccxt_hosts\.py \/nowhere\.whl one failed: .*No such file/s,
  );
  t.end();
});

/** @param sources below ccxt/, by their names */
function wheelOf(folder: string, sources: Record<string, string>): string {
  for (const [name, text] of Object.entries(sources)) {
    const path = join(folder, "ccxt", name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  }
  const wheel = join(folder, "ccxt-9.8.7-py3-none-any.whl");
  const { status, stderr } = spawnSync("python3", ["-m", "zipfile", "-c", wheel, "ccxt"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return wheel;
}
