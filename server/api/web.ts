import { createServer } from "node:http";
import { listen } from "../listen.js";
import { type AppOptions, makeApp } from "./app.js";

export interface Web {
  url: string;
  port: number;
  /** Lets answers under way end; idle connections are closed at once. */
  close: () => Promise<void>;
}

/**
 * Serves the public API.
 *
 * @param options `port` 0 takes a free one; `host` undefined listens on all addresses
 */
export async function startWeb(
  options: AppOptions & { port: number; host?: string },
): Promise<Web> {
  const server = createServer(
    {
      requestTimeout: 10_000,
      headersTimeout: 10_000,
      keepAliveTimeout: 30_000,
    },
    makeApp(options),
  );
  const port = await listen(server, options.port, options.host, "PORT");
  return {
    url: `http://localhost:${port}`,
    port,
    close() {
      const closed = new Promise<void>((resolve) =>
        server.close(() => resolve()),
      );
      server.closeIdleConnections();
      return closed;
    },
  };
}
