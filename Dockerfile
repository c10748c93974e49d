# One image for every program: its command says which, `docker run … venuewatch web`.
# A tag may be moved; where that matters, write node:20.20.0-bookworm-slim@sha256:<digest>, which
# `docker buildx imagetools inspect node:20.20.0-bookworm-slim` prints.
ARG NODE=node:20.20.0-bookworm-slim

FROM ${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY server server
COPY probe probe
COPY receiving receiving
COPY test/world test/world
RUN npx tsc --build

FROM ${NODE} AS packages
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM ${NODE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /build/node_modules node_modules
COPY package.json registry.json registry-all.json registry.schema.json ./
COPY METHODOLOGY.md RULEBOOK.md CHECKING.md COMPARING.md RECEIVING.md CHANGELOG.md ./
COPY sql sql
COPY --from=build /build/dist/server dist/server
COPY --from=build /build/dist/probe dist/probe
# the simulated venues of `venuewatch demo`, and its receivers of alerts
COPY --from=build /build/dist/test/world dist/test/world
COPY --from=build /build/dist/receiving dist/receiving
COPY test/world test/world
# a volume that is new takes its owner from here
RUN chmod +x dist/server/cli.js && ln -s /app/dist/server/cli.js /usr/local/bin/venuewatch && install -d -o node -g node /data
ENV DATA_DIR=/data
USER node
ENTRYPOINT ["node", "--enable-source-maps", "/app/dist/server/cli.js"]
CMD ["--help"]
