/**
 * Hands e-mails over to a server for delivery. nodemailer speaks SMTP on a connection that is made here, so that the
 * address is checked, and time and bytes are limited, as for every other receiver.
 */
import { connect, type LookupFunction, type Socket } from "node:net";
import nodemailer from "nodemailer";
import type { AwaitedStep } from "../../../shared/http/exchange.js";
import { maxReceiptBytes } from "../../../shared/http/limits.js";
import { answerText } from "./answer-text.js";
import { endingByFault, endingByTime, stoppingEnding, unreachableEnding, unsentEnding } from "./endings.js";
import type { MailRequest, MailServer } from "./formats/webhook-request.js";
import { isThisMachine, problemOfMailHost } from "./receiver-url.js";
import type { Ending } from "./retry-rules.js";

export interface Mailer {
  /** Makes one attempt. Its other terms are those of `Poster.post`. */
  send: (mail: MailRequest, leaveByMs: number) => Promise<Ending>;
  close: () => void;
}

interface MailerOptions {
  /** Refuses names with addresses to which nothing may be sent. */
  lookup: LookupFunction;
  allowLoopback: boolean;
  /** Limit of the whole attempt, from resolving the host's name to the server's last answer. */
  deadlineMs: number;
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string | undefined;
}

/** How often the bytes of a connection are compared with their limit. */
const countEveryMs = 20;

export function makeMailer({ lookup, allowLoopback, deadlineMs, ca }: MailerOptions): Mailer {
  const closing = new AbortController();

  function send(mail: MailRequest, leaveByMs: number): Promise<Ending> {
    const { host, port } = mail.server;
    const problem = problemOfMailHost(host, allowLoopback);
    if (problem !== null) return Promise.resolve({ result: "unsafe", error: problem });
    if (closing.signal.aborted) return Promise.resolve(stoppingEnding);
    return new Promise((resolve, reject) => {
      let awaited: AwaitedStep = "a connection";
      const dueMs = performance.now() + deadlineMs;
      const socket = connect({ host, port, lookup: reportingLookup, autoSelectFamily: true });
      const deadline = setTimeout(
        () => end(endingByTime(awaited, host, deadlineMs, performance.now() - dueMs)),
        deadlineMs,
      );
      const counting = setInterval(countBytes, countEveryMs);
      closing.signal.addEventListener("abort", onAbort);
      // before nodemailer, which replaces the error's code
      socket.on("error", (error) => endBy(() => endingByFault({ awaited, reused: false }, host, error)));
      socket.once("connect", () => {
        talk().catch((error: SmtpError) => {
          // nodemailer may notice it first
          countBytes();
          endBy(() => endingByRefusal(error, mail.server));
        });
      });

      async function talk(): Promise<void> {
        const lateMs = performance.now() - leaveByMs;
        if (lateMs > 0) return end(unsentEnding(lateMs));
        awaited = "an answer";
        const { response } = await transportOn(socket, mail.server, ca).sendMail(contentOf(mail));
        end({ result: "delivered", status: statusOf(response), answer: answerText(response, secretsOf(mail.server)) });
      }

      function reportingLookup(...[name, options, callback]: Parameters<LookupFunction>): void {
        awaited = "an address";
        lookup(name, options, (error, ...found) => {
          if (!error) awaited = "a connection";
          callback(error, ...found);
        });
      }

      function countBytes(): void {
        if (socket.bytesRead <= maxReceiptBytes) return;
        end(unreachableEnding(`expected answers of ${host}, got more than ${maxReceiptBytes / 1024} KiB`));
      }

      function onAbort(): void {
        end(stoppingEnding);
      }

      function endBy(endingOf: () => Ending): void {
        try {
          end(endingOf());
        } catch (error) {
          const bug = error as Error;
          stop();
          reject(bug);
        }
      }

      function end(ending: Ending): void {
        stop();
        resolve(ending);
      }

      function stop(): void {
        clearTimeout(deadline);
        clearInterval(counting);
        closing.signal.removeEventListener("abort", onAbort);
        socket.destroy();
      }
    });
  }

  return { send, close: () => closing.abort() };
}

function transportOn(connection: Socket, server: MailServer, ca: string | undefined) {
  const { host, port, isImplicitTls, login } = server;
  const isPlain = isThisMachine(host) && !isImplicitTls;
  return nodemailer.createTransport({
    ...{ host, port, connection, secure: isImplicitTls },
    // without it, a machine between could remove the offer of TLS, and read the password
    ...{ requireTLS: !isImplicitTls && !isPlain, ignoreTLS: isPlain },
    // explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2", ca },
    ...(login !== null && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    ...{ maxResponseSize: maxReceiptBytes, disableFileAccess: true, disableUrlAccess: true, logger: false },
  });
}

function contentOf({ from, to, subject, text, date, messageId, threadId }: MailRequest) {
  return {
    from: { name: "venuewatch", address: from },
    ...{ to, subject, text, date, messageId, references: threadId, xMailer: false as const },
    headers: {
      // so that no absent reader's mailbox answers (RFC 3834, and Microsoft's)
      "auto-submitted": "auto-generated",
      "x-auto-response-suppress": "All",
    },
  };
}

/** What nodemailer throws. */
interface SmtpError extends Error {
  code?: string;
  /** The command that was answered. */
  command?: string;
  response?: string;
  responseCode?: number;
}

/** @throws the error if it is a bug of ours */
function endingByRefusal(error: SmtpError, server: MailServer): Ending {
  const { code, command, response, responseCode } = error;
  const { host } = server;
  const answer = response === undefined ? null : answerText(response, secretsOf(server));
  if (responseCode !== undefined)
    return {
      ...{ result: "refused", status: responseCode, answer },
      error: `expected ${host} to accept ${stepOf(command)}, got ${responseCode}`,
    };
  switch (code) {
    case "ETLS":
    case "ESOCKET":
      return unreachableEnding(
        `expected TLS of ${host}, got ${/certificate|altnames/i.test(error.message) ? "a certificate that is not valid for it" : "none"}`,
      );
    case "EAUTH":
      return { result: "refused", error: `expected ${host} to take a user and a password, got no way to send them` };
    case "EPROTOCOL":
      return { ...unreachableEnding(`expected an answer of ${host} in SMTP, got something else`), answer };
    case "EENVELOPE":
    case "EMESSAGE":
      return { result: "refused", error: `expected ${host} to accept ${stepOf(command)}, got a refusal before it` };
    case "ECONNECTION":
    case undefined:
      if (code === undefined && error.message !== "Unexpected socket close") throw error;
      return unreachableEnding(`expected an answer of ${host}, got the end of the connection`);
    default:
      throw error;
  }
}

/** Not the command itself, which may contain a password. */
function stepOf(command: string | undefined): string {
  if (command?.startsWith("AUTH")) return "user and password";
  if (command === "MAIL FROM") return "the sender";
  if (command === "RCPT TO") return "the recipient";
  if (command === "STARTTLS") return "TLS";
  return command === "DATA" ? "the e-mail" : "a connection";
}

function statusOf(response: string): number | null {
  const [digits] = /^\d{3}/.exec(response) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** Also as they are sent. */
function secretsOf({ login }: MailServer): string[] {
  if (login === null) return [];
  const { user, password } = login;
  const sent = [`\0${user}\0${password}`, password, user].map((text) => Buffer.from(text).toString("base64"));
  return [...sent, password, user];
}
