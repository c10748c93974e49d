/** Programs of one start that would take each other's ports. */
import t from "tap";
import { refuseSharedPorts } from "../server/ports.js";
import { readSettings } from "../server/settings.js";

void t.test("ports that two programs want", (t) => {
  const check = (env: Record<string, string>) => () =>
    refuseSharedPorts(readSettings(env), 3);
  for (let port = 8081; port <= 8085; port += 1)
    t.throws(check({ EMBEDDED_PORT: String(port) }), {
      name: "UserError",
      message: `EMBEDDED_PORT: ${port} is one of the health ports, 8081 to 8085 (HEALTH_PORT, one for each program); set EMBEDDED_PORT or HEALTH_PORT to others`,
    });
  t.throws(check({ EMBEDDED_PORT: "8080" }), {
    message: "EMBEDDED_PORT: 8080 is PORT too; set one of them to another",
  });
  t.throws(check({ HEALTH_PORT: "8078" }), {
    message: /^PORT: 8080 is one of the health ports, 8078 to 8082/,
  });
  t.doesNotThrow(check({}));
  t.doesNotThrow(check({ EMBEDDED_PORT: "8086" }));
  t.doesNotThrow(check({ PORT: "0", EMBEDDED_PORT: "0", HEALTH_PORT: "0" }));
  t.doesNotThrow(
    check({ EMBEDDED_PORT: "8081", DATABASE_URL: "postgres://db/venues" }),
    "the embedded database is not started then",
  );
  t.end();
});
