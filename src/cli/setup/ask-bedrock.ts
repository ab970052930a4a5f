import { checkRegion } from "../../core/config/aws-region.ts";
import { Failure } from "../../core/failure.ts";
import { probableKey } from "../../core/secrets/api-key.ts";
import { holdsAccessKeys } from "../../core/secrets/aws-keys.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { holdsKey } from "../command-line/key-as-argument.ts";
import { askLine } from "../terminal/ask.ts";
import { askYesNo, TYPE_Y_OR_N } from "../terminal/confirm.ts";
import { note } from "../terminal/console.ts";
import { bedrockBaseUrl, serviceAt, type Service } from "./services.ts";

// What setup asks of Amazon Bedrock, which has a host for each region, and takes an API key or a signature.

/** Prints the access keys of the profile that AWS's command line uses (https://docs.aws.amazon.com/cli/latest/reference/configure/export-credentials.html). */
const EXPORT_KEYS = ["aws", "configure", "export-credentials", "--format", "process"];

/** Variables in which AWS's programs have the region. */
const REGION_VARIABLES = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/** A service, and the key for it if that was pasted on the way. */
type ServiceWithKey = Service & { key: Secret | null };

/** Asks for the region, and for what {@link askBedrockCredential} asks. */
export async function askBedrock(): Promise<ServiceWithKey> {
  const known = REGION_VARIABLES.map((name) => process.env[name] ?? "");
  const proposed = known.find((region) => checkRegion(region) === null);
  const hint = proposed === undefined ? ", such as us-east-1" : ` [${proposed}]`;
  for (;;) {
    const answer = await ask(`AWS region${hint}: `);
    const region = answer === "" && proposed !== undefined ? proposed : answer.toLowerCase();
    const problem = checkRegion(region);
    if (problem === null) return askBedrockCredential(bedrockBaseUrl(region));
    note(`The region ${problem}.`);
  }
}

/** Asks whether there is an API key, and if not for the command that prints access keys. Many people paste the key at the first question. */
export async function askBedrockCredential(baseUrl: string): Promise<ServiceWithKey> {
  const service = serviceAt(baseUrl, true);
  for (;;) {
    const answer = await askYesNo("Do you have an API key of Bedrock?", true);
    if (answer === true) return { ...service, key: null };
    if (answer === false) return { ...service, auth: "sigv4", signWith: await askCommand(), key: null };
    const key = probableKey(answer);
    if (holdsAccessKeys(answer)) note(ACCESS_KEYS);
    else if (key !== null) return { ...service, key };
    else note(TYPE_Y_OR_N);
  }
}

/** What is wrong with access keys at a question. They are never sent as a key, and a command with them would be in the configuration. */
const ACCESS_KEYS =
  "Those look like access keys. tollkeeper does not store them: answer no, then name a command that prints them.";

async function askCommand(): Promise<readonly string[]> {
  note("Then tollkeeper signs each request, with access keys that a command prints.");
  for (;;) {
    const answer = await ask(`Command [${formatCommand(EXPORT_KEYS)}]: `);
    if (answer === "") return EXPORT_KEYS;
    const words = answer.split(/ +/);
    const isKey = holdsAccessKeys(answer) || words.some(holdsKey) || probableKey(words[0] ?? "") !== null;
    if (isKey) note("That looks like a key. Type a command that prints it.");
    else if (formatCommand(words) === words.join(" ")) return words;
    else note("Type only words without quotes, or name a script: no shell reads the command.");
  }
}

async function ask(question: string): Promise<string> {
  const answer = await askLine(question);
  if (answer === null)
    throw new Failure("the input ended before setup was complete", "to continue, type: tollkeeper setup");
  return answer;
}
