/**
 * Makes a folder in place of the volumes and mounts of compose.yaml's servers, and a `docker` that runs the servers
 * from it (docker-process.ts). It starts nothing.
 */
import { appendFile, chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { compose } from "./compose.js";
import { freePort } from "./free-port.js";
import { databaseScript, makePlace, type PostgresPrograms } from "./postgres-server.js";

export interface ComposePlace {
  folder: string;
  /** The URL of the database over TCP, with a password. */
  urlOf: (login: string, password: string) => string;
  secret: (name: string) => Promise<string>;
  /** Runs a script as the servers' user, with `docker` on its path. */
  sh: (script: string, variables?: Record<string, string>) => Promise<string>;
}

export async function composePlace(t: Pick<Test, "teardown">, programs: PostgresPrograms): Promise<ComposePlace> {
  const place = await makePlace(t, programs);
  const { folder } = place;
  const [port, drillPort] = [await freePort(), await freePort()];
  const sh: ComposePlace["sh"] = (script, variables = {}) =>
    place.sh(`PATH="$PLACE/bin:$PATH"; unset -f venuewatch\n${script}`, {
      ...variables,
      PLACE: folder,
      DATABASE_PORT: String(port),
      DRILL_PORT: String(drillPort),
      PRODUCTION: packagedFile("deploy/production"),
      // as the tests migrate without compose: cadences depend on it
      PROBES_PER_ADDRESS: "1",
    });
  const initdbArgs = compose.services["database"]!.environment!["POSTGRES_INITDB_ARGS"]!;
  const secrets = Object.keys(compose.secrets).join(" ");
  await sh(`
    mkdir bin config secrets backups sockets
    cp "$PRODUCTION"/*.conf "$PRODUCTION"/*.sh config
    for name in ${secrets}; do head -c 32 /dev/urandom | base64 >secrets/$name; done
    initdb --pgdata=database --username=postgres --pwfile=secrets/superuser_password --no-sync ${initdbArgs}
    (${databaseScript("database", `${folder}/sockets`, "secrets")})
    touch bin/docker bin/venuewatch
  `);
  for (const [name, file] of [
    ["docker", "test/support/docker-process.js"],
    ["venuewatch", "server/cli.js"],
  ]) {
    const program = join(folder, "bin", name!);
    // tap loads itself into each of our programs, and would write where that user may not
    await writeFile(
      program,
      `#!/bin/sh\nNODE_OPTIONS= exec ${process.execPath} --enable-source-maps ${packagedFile(`dist/${file}`)} "$@"\n`,
    );
    await chmod(program, 0o755);
  }
  // replaces the container's paths, and sizes that may exceed this machine's memory
  await sh(`sed -i -e "s,/etc/venuewatch,$PLACE/config,g" -e "s,/backups,$PLACE/backups,g" config/postgresql.conf`);
  await appendFile(
    join(folder, "config/postgresql.conf"),
    `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = '${folder}/sockets'
shared_buffers = 128MB
max_wal_size = 512MB
min_wal_size = 80MB
effective_io_concurrency = 0
fsync = off
`,
  );
  t.teardown(() =>
    sh(
      `for server in drill database; do
        pg_ctl --pgdata=$server --mode=immediate --wait stop || pg_ctl --pgdata=$server status || test $? -ge 3; done`,
    ),
  );
  return {
    folder,
    sh,
    async secret(name) {
      return (await sh(`cat secrets/${name}`)).trim();
    },
    urlOf: (login, password) => `postgres://${login}:${encodeURIComponent(password)}@127.0.0.1:${port}/venuewatch`,
  };
}
