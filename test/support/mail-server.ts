/** A server for outgoing e-mails on this machine. */
import { simpleParser, type ParsedMail } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { Test } from "tap";
import type { MailServer } from "../../server/core/alerts/formats/webhook-request.js";
import { hostName, identity } from "./alert-receivers.js";

export const login = { user: "alerts@example.com", password: "hunter2: ünd/¿" };

export interface ReceivedMail {
  from: string;
  to: string[];
  isSecure: boolean;
  user: string | undefined;
  /** As it arrived. */
  raw: Buffer;
  mail: ParsedMail;
}

export interface MailService {
  server: MailServer;
  mails: ReceivedMail[];
}

/** @param options of smtp-server, which may refuse what it likes */
export async function startMailServer(
  t: Test,
  { isImplicitTls = false, ...options }: SMTPServerOptions & { isImplicitTls?: boolean } = {},
): Promise<MailService> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    ...{ secure: isImplicitTls, ...identity, disableReverseLookup: true, closeTimeout: 100 },
    onAuth({ username, password }, _session, callback) {
      const isRight = username === login.user && password === login.password;
      callback(isRight ? null : new Error("Invalid username or password"), { user: username });
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (stream.sizeExceeded) return callback(Object.assign(new Error("too large"), { responseCode: 552 }));
        const raw = Buffer.concat(chunks);
        void simpleParser(raw).then((mail) => {
          const { mailFrom, rcptTo } = session.envelope;
          mails.push({
            ...{ from: mailFrom ? mailFrom.address : "", to: rcptTo.map(({ address }) => address), raw, mail },
            ...{ isSecure: session.secure, user: session.user as string | undefined },
          });
          callback(null, "queued as 4711");
        });
      });
    },
    ...options,
  });
  // what a client cuts off is part of the tests
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as { port: number };
  return { mails, server: { host: hostName, port, isImplicitTls, login } };
}
