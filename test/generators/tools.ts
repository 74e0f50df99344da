/** What makes a client of the document, or judges it. Commands run in bash, in a copy of the folder with the tool's scenario. */
export interface Tool {
  readonly name: string
  readonly folder: string
  readonly version: string
  readonly needs: readonly Download[]
  readonly generate: string
  readonly compile?: string
  /** Runs the scenario, which fails unless each answer is as it should be. */
  readonly work?: string
}

export type Download = keyof typeof downloads

const openapiGenerator = '7.25.0'
const oapiCodegen = 'v2.8.2'
const ogen = 'v1.24.0'

/** Its template takes `type` out of an event that has a discriminator, and then asks the event for it. */
const withoutDiscriminator =
  `node -e 'const text = JSON.stringify(require("../openapi.json"), (name, part) => name === "discriminator" ? undefined : part); ` +
  `require("node:fs").writeFileSync("openapi.json", text)'`

/** What several tools need: made once, in the folder above theirs. */
export const downloads = {
  jar:
    'mvn --batch-mode --quiet dependency:copy -DoutputDirectory=. -Dmdep.stripVersion=true ' +
    `-Dartifact=org.openapitools:openapi-generator-cli:${openapiGenerator}`,
  python: 'python3 -m venv python && python/bin/pip install --quiet --requirement requirements.txt',
  npm: 'npm ci',
}

type Steps = Pick<Tool, 'folder' | 'compile' | 'work'> & {
  readonly needs?: readonly Download[]
  readonly options?: string
  /** Makes openapi.json in the folder of the tool. */
  readonly before?: string
}

function byOpenapiGenerator(language: string, { options = '', needs = [], before, ...steps }: Steps): Tool {
  const document = before === undefined ? '../openapi.json' : 'openapi.json'
  const made = `java -jar ../openapi-generator-cli.jar generate -g ${language} -i ${document} -o client ${options}`
  const generate = before === undefined ? made : `${before} && ${made}`
  const name = `openapi-generator ${language}`
  return { name, version: openapiGenerator, needs: ['jar', ...needs], generate, ...steps }
}

const python = {
  compile: '../python/bin/python -m compileall -q client',
  work: 'PYTHONPATH=client ../python/bin/python scenario.py',
}
const go = { compile: 'go build -o scenario .', work: './scenario' }
const typescript = {
  compile: `../node_modules/.bin/tsc --project tsconfig.json && echo '{"type":"commonjs"}' > js/package.json`,
  work: 'node js/scenario.js',
}

/** Those that `.ci/run` tries. */
export const mostUsed: readonly Tool[] = [
  byOpenapiGenerator('go', {
    folder: 'openapi-generator-go',
    options: '--git-user-id petstore --git-repo-id client',
    compile:
      'install -D scenario.go client/scenario/main.go && cd client && go build ./... && go build -o ../scenario ./scenario',
    work: './scenario',
  }),
  byOpenapiGenerator('python', { folder: 'openapi-generator-python', needs: ['python'], ...python }),
  {
    name: 'openapi-python-client',
    folder: 'openapi-python-client',
    version: '0.29.1',
    needs: ['python'],
    generate:
      'PATH=$PWD/../python/bin:$PATH openapi-python-client generate --path ../openapi.json --output-path client --fail-on-warning',
    ...python,
  },
  {
    name: 'openapi-typescript, openapi-fetch',
    folder: 'openapi-typescript',
    version: '7.13.0, 0.17.0',
    needs: ['npm'],
    generate: 'cp ../petstore.ts ../generate.ts . && node generate.ts ../openapi.json',
    compile: '../node_modules/.bin/tsc --project .',
    work: 'node scenario.ts',
  },
  {
    name: 'Spectral, spectral:oas',
    folder: 'spectral',
    version: '6.16.3',
    needs: ['npm'],
    generate: '../node_modules/.bin/spectral lint --ruleset ruleset.yaml --fail-severity hint ../openapi.json',
  },
  {
    name: 'Spectral, spectral:asyncapi',
    folder: 'spectral',
    version: '6.16.3',
    needs: ['npm'],
    generate:
      'curl -sSf -o asyncapi.json $PETSTORE_URL/asyncapi.json && ' +
      '../node_modules/.bin/spectral lint --ruleset asyncapi.yaml --fail-severity hint asyncapi.json',
  },
]

const others: readonly Tool[] = [
  byOpenapiGenerator('java', {
    folder: 'openapi-generator-java',
    compile:
      'install -D Scenario.java client/src/main/java/Scenario.java && cd client && ' +
      'mvn --batch-mode --quiet compile dependency:build-classpath -Dmdep.outputFile=classpath',
    work: 'java -cp client/target/classes:$(cat client/classpath) Scenario',
  }),
  byOpenapiGenerator('typescript-fetch', { folder: 'openapi-generator-typescript', needs: ['npm'], ...typescript }),
  byOpenapiGenerator('rust', {
    folder: 'openapi-generator-rust',
    before: withoutDiscriminator,
    options: '--additional-properties=supportAsync=false',
    compile:
      'install -D scenario.rs client/examples/scenario.rs && cd client && cargo build --quiet --example scenario',
    work: 'client/target/debug/examples/scenario',
  }),
  {
    name: 'oapi-codegen',
    folder: 'oapi-codegen',
    version: oapiCodegen,
    needs: [],
    generate:
      `go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${oapiCodegen} ` +
      '-generate types,client -package main -o client.go ../openapi.json',
    ...go,
  },
  {
    name: 'ogen',
    folder: 'ogen',
    version: ogen,
    needs: [],
    generate: `go run github.com/ogen-go/ogen/cmd/ogen@${ogen} --target client --package client ../openapi.json`,
    ...go,
  },
  {
    name: '@hey-api/openapi-ts',
    folder: 'hey-api',
    version: '0.99.0',
    needs: ['npm'],
    generate: '../node_modules/.bin/openapi-ts --input ../openapi.json --output client --client @hey-api/client-fetch',
    ...typescript,
  },
]

export const tools: readonly Tool[] = [...mostUsed, ...others]
