# The image of the service, with an SDK of OpenTelemetry
ARG PETSTORE_IMAGE=petstore-animals

FROM ${PETSTORE_IMAGE} AS tracing
USER root
RUN npm install --prefix /opt/tracing --ignore-scripts --save-exact @opentelemetry/sdk-node@0.301.0

FROM ${PETSTORE_IMAGE}
COPY --from=tracing /opt/tracing /opt/tracing
COPY ops/start-tracing.mjs /opt/tracing/
CMD ["node", "--import", "/opt/tracing/start-tracing.mjs", "dist/src/petstore.cjs", "start"]
