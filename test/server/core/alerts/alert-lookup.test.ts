/** How receivers' names are resolved, against real name servers with good and bad answers. */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import net from "node:net";
import t, { type Test } from "tap";
import { makeLookup } from "../../../../shared/http/safe-address.js";
import { requestTo, posterFor } from "../../../support/alert-receivers.js";
import { serveTcp } from "../../../support/tcp-server.js";

const codes = { noError: 0, formatError: 1, serverFailed: 2, noName: 3, refused: 5 };

const six = "2001:db8::1";
const sixBytes = Buffer.from("20010db8000000000000000000000001", "hex");

type Answer = { addresses: string[] } | { code: keyof typeof codes } | "silence";

/** @param answer by question: `A hooks.test` */
async function nameServer(t: Test, answer: (question: string) => Answer) {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (message, from) => {
    const { question, end } = questionIn(message);
    questions.push(question);
    reply(socket, from, message.subarray(0, end), answer(question));
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.teardown(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}

function questionIn(message: Buffer): { question: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1) === 1 ? "A" : "AAAA";
  return { question: `${type} ${labels.join(".")}`, end: at + 5 };
}

/** As in RFC 1035. */
function reply(socket: Socket, to: RemoteInfo, question: Buffer, answer: Answer): void {
  if (answer === "silence") return;
  const addresses = "addresses" in answer ? answer.addresses : [];
  const code = "code" in answer ? codes[answer.code] : codes.noError;
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  // no more records than these: a question may carry options
  head.writeUInt32BE(0, 8);
  socket.send(Buffer.concat([head, ...addresses.map(record)]), to.port, to.address);
}

function record(address: string): Buffer {
  const data = address === six ? sixBytes : Buffer.from(address.split(".").map(Number));
  const head = Buffer.from("c00c0000000100000000", "hex");
  head.writeUInt16BE(data.length === 4 ? 1 : 28, 2);
  const length = Buffer.of(0, data.length);
  return Buffer.concat([head, length, data]);
}

/** The same answer for each name, by type. */
const answering = (four: Answer, six: Answer) => (question: string) => (question.startsWith("AAAA") ? six : four);

const none: Answer = { addresses: [] };

void t.test("a name resolves to its addresses of both families, IPv4 first", async (t) => {
  const server = await nameServer(t, answering({ addresses: ["8.8.8.8", "8.8.4.4"] }, { addresses: [six] }));
  t.strictSame(await makeLookup([server.address])("hooks.test"), [
    { address: "8.8.8.8", family: 4 },
    { address: "8.8.4.4", family: 4 },
    { address: six, family: 6 },
  ]);
  const questions = ["A hooks.test", "AAAA hooks.test"];
  t.strictSame(server.questions.sort(), questions, "each type is queried once, without a search domain");
});

void t.test("addresses of one family are enough", async (t) => {
  const one: Answer = { addresses: ["8.8.8.8"] };
  const other: Answer = { addresses: [six] };
  const broken: Answer = { code: "serverFailed" };
  const cases: [a: Answer, aaaa: Answer, address: string][] = [
    [one, none, "8.8.8.8"],
    [none, other, six],
    [one, broken, "8.8.8.8"],
    [broken, other, six],
  ];
  for (const [a, aaaa, address] of cases) {
    const server = await nameServer(t, answering(a, aaaa));
    const found = await makeLookup([server.address])("hooks.test");
    t.strictSame(found, [{ address, family: net.isIP(address) }]);
  }
});

void t.test("a name without addresses gives the name server's reason", async (t) => {
  const noName: Answer = { code: "noName" };
  const cases: [four: Answer, six: Answer, code: string][] = [
    [noName, noName, "ENOTFOUND"],
    [none, none, "ENODATA"],
    [none, noName, "ENODATA"],
    [{ code: "serverFailed" }, none, "ESERVFAIL"],
    [noName, { code: "serverFailed" }, "ESERVFAIL"],
    [{ code: "refused" }, { code: "refused" }, "EREFUSED"],
    [{ code: "formatError" }, { code: "formatError" }, "EFORMERR"],
  ];
  for (const [four, six, code] of cases) {
    const server = await nameServer(t, answering(four, six));
    await t.rejects(makeLookup([server.address])("hooks.test"), { code }, `${JSON.stringify([four, six])}`);
  }
  const server = await nameServer(t, answering(none, none));
  const tooLong = `${"x".repeat(64)}.test`;
  await t.rejects(makeLookup([server.address])(tooLong), { code: "EBADNAME" });
});

void t.test("a silent name server is given up before the delivery's deadline", async (t) => {
  const silent = await nameServer(t, () => "silence");
  const poster = posterFor(t, { allowLoopback: false, lookup: makeLookup([silent.address], 100) });
  t.match(await poster.post(requestTo("https://hooks.test")), {
    result: "ours",
    error: "expected an address of hooks.test, got no definite answer (ETIMEOUT)",
  });
  t.ok(silent.questions.length > 2, "the question was repeated");
});

void t.test("names with silent name servers do not delay other names", async (t) => {
  const server = await nameServer(t, (question) =>
    question.endsWith("good.test") ? answering({ addresses: ["8.8.8.8"] }, none)(question) : "silence",
  );
  const lookup = makeLookup([server.address], 200);
  const silent = Array.from({ length: 20 }, (_, nth) => lookup(`silent${nth}.test`));
  const ended = Promise.allSettled(silent);
  const first = await Promise.race([lookup("good.test"), ended]);
  t.strictSame(first, [{ address: "8.8.8.8", family: 4 }]);
  await ended;
});

void t.test("a name server that alternates its answers cannot direct alerts to this machine", async (t) => {
  let connections = 0;
  const port = await serveTcp(t, () => (connections += 1));
  const addresses = ["10.0.0.7", "127.0.0.1"];
  const server = await nameServer(t, (question) =>
    question.startsWith("AAAA") ? none : { addresses: addresses.splice(0, 1) },
  );
  const poster = posterFor(t, { allowLoopback: false, lookup: makeLookup([server.address]) });
  for (const kind of ["10.0.0.7 is private", "127.0.0.1 is loopback"])
    t.match(await poster.post(requestTo(`https://hooks.test:${port}`)), {
      result: "unsafe",
      error: `expected public addresses of hooks.test, but ${kind}`,
    });
  t.strictSame(addresses, []);
  t.equal(connections, 0);
});
