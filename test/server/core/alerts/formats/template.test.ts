/** A JSON body by an operator's template: filled without harm, and checked when it is given. */
import { readFileSync } from "node:fs";
import t from "tap";
import { credentialOf } from "../../../../../server/core/alerts/destinations.js";
import type { Alert } from "../../../../../server/core/alerts/formats/alert.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { placeholderNames } from "../../../../../server/core/alerts/formats/template.js";
import type { TemplateDestination } from "../../../../../server/core/alerts/formats/webhook-request.js";
import { problemOfTemplate } from "../../../../../server/core/alerts/template-check.js";
import { packagedFile } from "../../../../../shared/config/package.js";
import { posterFor } from "../../../../support/alert-receivers.js";
import { genieKey, makeOpsgenie, startService } from "../../../../support/alert-services.js";
import {
  alertSaying,
  closedAlert,
  openedAlert,
  pausedAlert,
  resumedAlert,
  sent,
} from "../../../../support/made-alert.js";

const page = readFileSync(packagedFile("docs/channels.md"), "utf8");
const [, recipe = ""] = /## A JSON body of your own\n([^]*?)\n## /.exec(page)!;
const [example = "", ofEnd = ""] = [...recipe.matchAll(/```json\n([^]*?)```/g)].map(([, text = ""]) => text);

function destination(template: unknown, more: Partial<TemplateDestination> = {}): TemplateDestination {
  const text = typeof template === "string" ? template : JSON.stringify(template);
  const none = { authorization: null, endUrl: null, endTemplate: null };
  return { format: "template", url: "https://receiver.example/in", template: text, ...none, ...more };
}

function bodyOf(template: unknown, alert: Alert = openedAlert()) {
  return JSON.parse(formatAlert(destination(template), alert, sent).body.toString()) as unknown;
}

void t.test("the page's example opens and closes alerts of Opsgenie, whatever venues write", async (t) => {
  const { check, open } = makeOpsgenie();
  const service = await startService(t, check);
  const poster = posterFor(t);
  const to = destination(example, {
    url: `${service.origin}/v2/alerts`,
    authorization: genieKey,
    endUrl: `${service.origin}/v2/alerts/{{key}}/close?identifierType=alias`,
    endTemplate: ofEnd,
  });
  const post = async (alert: Alert) => (await poster.post(formatAlert(to, alert, sent))).result;
  for (const text of [
    "Trouble",
    `"},"priority":"P5","x":"\\`,
    "{{eventId}}",
    "long ".repeat(5_000),
    "🐙".repeat(20_000),
    "",
  ])
    for (const [begins, ends, alias] of [
      [openedAlert(), closedAlert(), "venuewatch:kraken-2026-01-31-rest-outage"],
      [pausedAlert(), resumedAlert(), null],
    ] as const) {
      t.equal(await post(alertSaying(text, begins)), "delivered", service.refusals.at(-1) ?? "");
      t.equal(open.size, 1);
      if (alias !== null) t.ok(open.has(alias));
      t.equal(await post(alertSaying(text, ends)), "delivered", service.refusals.at(-1) ?? "");
      t.equal(open.size, 0, "its end closes it");
    }
  t.strictSame(service.refusals, []);
  t.match(recipe, " --key - ", "no key in a shell's history");
});

void t.test("a placeholder alone gets the value itself, within a text its text", (t) => {
  t.strictSame(
    bodyOf({
      a: "{{eventId}}",
      b: "n {{ eventId }}",
      c: "{{eventId:9}}",
      d: "{{test}}",
      e: ["{{asset}}", "x{{asset}}"],
      f: 1,
    }),
    { a: 8123, b: "n 8123", c: "8123", d: false, e: [null, "x"], f: 1 },
  );
  t.strictSame(bodyOf({ a: "{{durationSeconds}}" }, closedAlert()), { a: 1074 });
  t.end();
});

void t.test("a text of strangers stays within its string, and is no template", (t) => {
  const said = { venueName: `"}, {"x": "{{eventId}}` };
  const alert = { ...openedAlert(), venue: { ...openedAlert().venue, name: said.venueName } };
  t.strictSame(bodyOf({ a: "{{venueName}}", b: "[{{venueName}}]" }, alert), {
    a: said.venueName,
    b: `[${said.venueName}]`,
  });
  t.end();
});

void t.test("every placeholder has a value of an incident or of a transfer, and is documented", (t) => {
  const template = Object.fromEntries(placeholderNames.map((name) => [name, `{{${name}}}`]));
  const values = [closedAlert(), resumedAlert(), pausedAlert()].map(
    (alert) => bodyOf(template, alert) as Record<string, unknown>,
  );
  for (const name of placeholderNames)
    t.ok(
      values.some((one) => one[name] !== null && one[name] !== ""),
      name,
    );
  const [, table = ""] = page.split("| Placeholder ");
  const documented = [...table.split("\n\n")[0]!.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  );
  t.strictSame(documented.sort(), [...placeholderNames].sort());
  t.match(values[0], {
    ...{ action: "resolve", level: "critical", key: "venuewatch:kraken-2026-01-31-rest-outage" },
    ...{ startedAt: "2026-01-31T11:41:06.000Z", endedAt: "2026-01-31T11:59:00.000Z", severity: "outage" },
    ...{ jsonUrl: "https://api.example.org/v1/incidents/kraken-2026-01-31-rest-outage" },
  });
  t.match(values[2], { action: "trigger", level: "warning", network: "Tron", because: "Delayed sends" });
  t.match(
    values[0]!["details"],
    /^Severity: outage\nVenue: Kraken\n[^]*\nThe venue's own notice: Degraded REST API\. /,
  );
  t.end();
});

void t.test("ends go where beginnings go, unless another address or template is given", (t) => {
  const to = (more: Partial<TemplateDestination>) => {
    const { url, body } = formatAlert(destination('{"a":"{{action}}"}', more), closedAlert(), sent);
    return [url.href, body.toString()];
  };
  const endTemplate = '{"done":true}';
  const endUrl = "https://receiver.example/end/{{key}}";
  t.strictSame(to({}), ["https://receiver.example/in", '{"a":"resolve"}']);
  t.strictSame(to({ endTemplate }), ["https://receiver.example/in", '{"done":true}']);
  t.strictSame(to({ endUrl })[0], "https://receiver.example/end/venuewatch%3Akraken-2026-01-31-rest-outage");
  t.end();
});

void t.test("what a receiver repeats of the template's keys is not stored", (t) => {
  const to = destination(
    { api_key: "0123456789abcdef0123", text: "{{headline}}" },
    { authorization: "Bearer 0123456789" },
  );
  const { secrets = [], headers } = formatAlert(to, openedAlert(), sent);
  t.equal(headers["authorization"], "Bearer 0123456789");
  for (const secret of ["0123456789abcdef0123", "Bearer 0123456789", "0123456789"]) t.ok(secrets.includes(secret));
  t.end();
});

void t.test("a mistake in a template is named when it is given", (t) => {
  const deep = `${"[".repeat(40)}1${"]".repeat(40)}`;
  for (const [template, problem] of [
    [example, null],
    ['["{{headline}}"]', null],
    ['{"a":"{{headlin}}"}', /got \{\{headlin\}\}; did you mean headline\?; there are eventId, /],
    ['{"a":"{{zzzzzz}}"}', /got \{\{zzzzzz\}\}; there are eventId, /],
    ['{"a":"x {{headline} y"}', "such as {{headline}} or {{headline:130}}, got {{headline} y"],
    ['{"a":"{{headline | upper}}"}', "got {{headline | upper}}"],
    ['{"a":"{{headline:0}}"}', "expected a length from 1 to 20000, got {{headline:0}}"],
    ['{"a":"{{toString}}"}', "got {{toString}}"],
    ['{"a":"{{__proto__}}"}', "got {{__proto__}}"],
    ['{"{{venue}}":1}', 'expected placeholders in values only, got one in the name "{{venue}}"'],
    ['{"a":"secret-key-of-mine",}', "expected a template in JSON, got something else"],
    ['"{{headline}}"', "a JSON object or array, got a string"],
    ["null", "got null"],
    [deep, "at most 32 levels"],
    [`["${"{{venue}}".repeat(101)}"]`, "at most 100 placeholders, got 101"],
    [`["${"x".repeat(16 * 1024)}"]`, "at most 16384 characters, got 16388"],
  ] as const) {
    const found = problemOfTemplate(template);
    if (problem === null) t.equal(found, null);
    else t.match(found, problem);
    t.notMatch(found ?? "", "secret-key-of-mine");
  }
  const given = (more: object) => credentialOf("template", "https://x.example/a", false, { template: "{}", ...more });
  t.match(JSON.parse(given({}).text), { endUrl: null, authorization: null });
  for (const [more, option, problem] of [
    [{ template: '{"a":"{{b}}"}' }, "template", "got {{b}}"],
    [{ "end-template": '{"a":"{{b}}"}' }, "end-template", "got {{b}}"],
    [{ "end-url": "https://x.example/{{slug}}" }, "end-url", "as the only placeholder of an address, got {{slug}}"],
    [{ "end-url": "https://{{key}}.example/" }, "end-url", "got it within the host"],
    [{ "end-url": "https://127.0.0.1/{{key}}" }, "end-url", "127.0.0.1 is loopback"],
    [{ key: "Bearer x\r\nx-other: y" }, "key", "printable ASCII"],
  ] as const)
    t.throws(() => given(more), { option, message: problem });
  t.end();
});
