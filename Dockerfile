# One image for all programs. The command selects one: `docker run … venuewatch web`.
# Node 24 is the newest line with long-term support (server/commands/doctor/node-lines.ts has the end of support).
# A tag may be moved, so the digest is given, too. `docker buildx imagetools inspect node:TAG` prints that of another tag.
ARG NODE=node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553

FROM ${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY packages/embedded-timescaledb/package.json packages/embedded-timescaledb/
RUN npm ci --omit=dev --no-audit --no-fund
COPY tsconfig.base.json tsconfig.start.json ./
COPY clients/typescript clients/typescript
COPY packages packages
COPY shared shared
COPY server server
COPY probe probe
COPY receiving receiving
COPY simulator simulator
RUN npm run product

FROM ${NODE} AS packages
WORKDIR /build
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY packages/embedded-timescaledb/package.json packages/embedded-timescaledb/
# omits PostgreSQL in WebAssembly, which only the embedded database needs, because production has a server (NOTICE,
# docs/decisions/embedded-database.md)
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM ${NODE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /build/node_modules node_modules
COPY package.json ./
COPY registry registry
COPY LICENSE NOTICE ./
COPY CHANGELOG.md ./
COPY docs/methodology.md docs/rulebook.md docs/checking.md docs/comparing.md docs/receiving.md docs/
COPY sql sql
COPY server/pages/assets server/pages/assets
COPY clients/typescript/package.json clients/typescript/
COPY --from=build /build/clients/typescript/dist clients/typescript/dist
COPY packages/embedded-timescaledb/package.json packages/embedded-timescaledb/
COPY --from=build /build/packages/embedded-timescaledb/dist packages/embedded-timescaledb/dist
COPY --from=build /build/dist/shared dist/shared
COPY --from=build /build/dist/server dist/server
COPY --from=build /build/dist/probe dist/probe
# a new volume takes its owner from this directory
RUN chmod +x dist/server/cli.js && ln -s /app/dist/server/cli.js /usr/local/bin/venuewatch && install -d -o node -g node /data
ENV DATA_DIR=/data
USER node
ENTRYPOINT ["node", "--enable-source-maps", "/app/dist/server/cli.js"]
CMD ["--help"]
