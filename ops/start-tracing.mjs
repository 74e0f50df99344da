// For `node --import`: the SDK of OpenTelemetry with the settings of its environment variables (OTEL_...).
import { NodeSDK } from '@opentelemetry/sdk-node'

new NodeSDK({ instrumentations: [] }).start()
