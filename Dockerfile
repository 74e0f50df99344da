ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY .ci/node .ci/node
COPY examples/client/package.json examples/client/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY ops/build.ts ops/built-files.ts ops/
COPY src src
COPY projections projections
RUN npm run build && chmod 755 dist/src/petstore.cjs

FROM ${NODE_IMAGE} AS packages
# npm names the bill of materials after the folder
WORKDIR /petstore-animals
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
# npm makes no bill where something is missing that package.json names
RUN npm pkg delete devDependencies && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.json

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 ADMIN_PORT=3001 DATA_DIR=/data
# Writable for group 0 too: where the platform chooses the user, as OpenShift does, that is its group
RUN mkdir --mode=770 /data && chown 1000:0 /data && ln -s /app/dist/src/petstore.cjs /usr/local/bin/petstore
WORKDIR /app
COPY --from=packages /petstore-animals/node_modules node_modules
COPY --from=packages /petstore-animals/package.json /petstore-animals/sbom.json ./
COPY --from=build /app/dist dist
# A number: Kubernetes cannot tell that a name is not root
USER 1000
VOLUME /data
EXPOSE 3000 3001
# Alive, not ready: a service that waits for its brokers must not be restarted for it
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["petstore", "start"]
ARG REVISION=unknown
LABEL org.opencontainers.image.title=petstore-animals \
  org.opencontainers.image.version=1.0.0 \
  org.opencontainers.image.licenses=MIT \
  org.opencontainers.image.revision=${REVISION}
