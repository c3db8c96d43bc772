// Checks GraphQL requests against a published schema: node validate.mjs SCHEMA.json.gz < requests.json
// Each request is {query, operationName, variables}; the answer is a list of lists of errors.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { join } from "node:path";

// graphql lies where build/peers.sh installed it, not beside this file.
const { buildClientSchema, getVariableValues, parse, validate } =
  createRequire(join(process.env.PEER_MODULES, "package.json"))("graphql");

const raw = JSON.parse(gunzipSync(readFileSync(process.argv[2])));
const schema = buildClientSchema(raw.data ?? raw);
const requests = JSON.parse(readFileSync(0));

const answers = requests.map(({ query, operationName, variables }) => {
  let document;
  try {
    document = parse(query);
  } catch (error) {
    return [error.message];
  }
  const errors = validate(schema, document).map((e) => e.message);
  const operation = document.definitions.find((d) => d.kind === "OperationDefinition" && d.name?.value === operationName);
  if (!operation) {
    return [...errors, `there is no operation ${operationName}`];
  }
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {});
  return [...errors, ...(coerced.errors ?? []).map((e) => e.message)];
});
process.stdout.write(JSON.stringify(answers));
