# The image of the service, with an SDK of OpenTelemetry
ARG PETSTORE_IMAGE=petstore-animals
FROM ${PETSTORE_IMAGE}
USER root
RUN npm install --prefix /opt/tracing --ignore-scripts --save-exact @opentelemetry/sdk-node@0.301.0
COPY ops/start-tracing.mjs /opt/tracing/
USER node
CMD ["node", "--import", "/opt/tracing/start-tracing.mjs", "src/main.ts"]
