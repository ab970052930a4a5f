import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import type { Config } from "../../core/config/config.ts";
import { checkKeyName } from "../../core/config/names.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { listConfiguredKeys, type ConfiguredKey } from "../../core/policy/upstreams.ts";
import { parseApiKey } from "../../core/secrets/api-key.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import { notifyDaemon } from "../../daemon/running-daemon.ts";
import { hardenProcess } from "../../daemon/harden.ts";
import type { KeyStore } from "../../ports.ts";
import { attempt } from "../attempt.ts";
import type { Argv } from "../command-line.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { fetchModels } from "../keys/fetch-models.ts";
import { findKey, type KeyArguments, type KeyTarget } from "../keys/find-key.ts";
import { loadConfig } from "../load-config.ts";
import { note, print } from "../terminal/console.ts";
import { readSecretText } from "../terminal/read-secret.ts";
import { formatTable } from "../terminal/table.ts";

/** How many positional arguments yargs counts for `key set`; the name is counted separately. */
const COMMAND_WORDS = 2;

const VALUE_ON_COMMAND_LINE =
  "the key itself is never an argument, because every process of the machine and the shell's history would see it; " +
  "type it when asked, or pipe it in";

/** `tollkeeper key`: stores, lists, tests and removes keys. Never prints a key. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .middleware(() => {
        for (const warning of hardenProcess()) note(`warning: ${warning}`);
      })
      .command(
        "set [name]",
        "Store a key in the keychain, typed without being shown or read from standard input",
        setOptions,
        setKey,
      )
      .command(
        "list",
        "Show every key that the configuration names, and whether it is there",
        reportOptions,
        showKeys,
      )
      .command("test [name]", "Ask the upstream for its models with the key", targetOptions, testKey)
      .command("remove [name]", "Remove a key from the keychain", targetOptions, removeKey)
      .demandCommand(1, "say what to do with it: set, list, test or remove"),
  handler: () => {},
};

function targetOptions(yargs: Argv<object>): Argv<KeyArguments> {
  return yargs
    .option("config", { type: "string" })
    .option("upstream", { type: "string", default: "default", describe: "Upstream that the key is for" })
    .positional("name", { type: "string", describe: "Name of the key; by default the upstream's own" })
    .check(({ name }) => (name === undefined ? true : (checkKeyName(name) ?? true)));
}

/** Replaces the error message of yargs for an extra argument, which would repeat it: it may be the key. */
function setOptions(yargs: Argv<object>): Argv<KeyArguments> {
  return targetOptions(yargs)
    .strict(false)
    .strictOptions()
    .check(({ _: words }) => (words.length > COMMAND_WORDS ? VALUE_ON_COMMAND_LINE : true));
}

async function setKey(argv: KeyArguments): Promise<void> {
  const { config, upstream, ref } = await findKey(argv);
  requireKeychainSource({ upstream, ref });
  const what = `key "${ref.name}" for ${ref.origin}`;
  const text = await readSecretText(`${what} (nothing shows while you type): `);
  await createKeychain().write(ref, parseApiKey(text));
  print(`stored ${what} (upstream ${upstream.name}); it is sent to that origin only`);
  const keys = listConfiguredKeys(config);
  const isNamed = keys.some(({ ref: { name, origin } }) => name === ref.name && origin === ref.origin);
  if (!isNamed) note(`note: the configuration does not name "${ref.name}" yet; see tollkeeper config edit`);
  await notifyOfChange();
}

async function testKey(argv: KeyArguments): Promise<void> {
  const { config, upstream, ref } = await findKey(argv);
  const secret = await createKeySources(createKeychain()).read(ref);
  const { models } = await fetchModels(upstream, secret, config.outbound);
  const count = models === null ? "" : `: ${models} ${models === 1 ? "model" : "models"}`;
  print(`accepted by ${upstream.baseUrl}${count}`);
}

async function removeKey(argv: KeyArguments): Promise<void> {
  const { upstream, ref } = await findKey(argv);
  requireKeychainSource({ upstream, ref });
  const what = `key "${ref.name}" for ${ref.origin}`;
  const removed = await createKeychain().remove(ref);
  print(removed ? `removed ${what}` : `there was no ${what}`);
  if (removed) await notifyOfChange();
}

/** A key stored in the keychain would never be used, and other sources are not ours to write to. */
function requireKeychainSource({ upstream, ref }: Pick<KeyTarget, "upstream" | "ref">): void {
  if (ref.source.kind === "keychain") return;
  throw new Failure(
    `the keys of upstream ${upstream.name} do not live in the keychain, but in: ${describeKeySource(ref.source)}`,
    "change it there, or take keySource out: tollkeeper config edit",
  );
}

async function notifyOfChange(): Promise<void> {
  if (await notifyDaemon("keys-changed")) print("the running daemon reads it anew");
}

async function showKeys({ config, json }: ReportArguments): Promise<void> {
  const keys = await listKeys(await loadConfig(config), createKeySources(createKeychain()));
  if (json) print(JSON.stringify(keys, null, 2));
  else if (keys.length === 0) print("the configuration names no key");
  else for (const line of renderKeys(keys)) print(line);
}

/** One key that the configuration names, as `key list --json` prints it. Reveals neither its value nor its length. */
export interface ListedKey {
  name: string;
  upstream: string;
  origin: string;
  source: string;
  /** `stored`, or the code of a `KeyFailure`. */
  state: "stored" | KeyFailure["code"];
  /** What is wrong and how to fix it; null for a stored key. */
  problem: { message: string; hint: string | null } | null;
  /** The configured tools that use it. */
  usedBy: string[];
}

/** Looks up every key, one after another, because keychains serve one caller at a time. */
async function listKeys(config: Config, store: KeyStore): Promise<ListedKey[]> {
  const keys: ListedKey[] = [];
  for (const configured of listConfiguredKeys(config)) keys.push(await lookUp(configured, store));
  return keys;
}

async function lookUp({ upstream, ref, usedBy }: ConfiguredKey, store: KeyStore): Promise<ListedKey> {
  const { failure } = await attempt(KeyFailure, () => store.read(ref));
  return {
    name: ref.name,
    upstream: upstream.name,
    origin: ref.origin,
    source: describeKeySource(ref.source),
    usedBy,
    state: failure?.code ?? "stored",
    problem: failure && { message: failure.messageForOwner, hint: failure.hint ?? null },
  };
}

const HEADINGS = ["key", "upstream", "origin", "source", "state", "used by"];

/** Renders the keys as a table, followed by each distinct problem. */
function renderKeys(keys: readonly ListedKey[]): string[] {
  const rows = keys.map((key) => {
    return [key.name, key.upstream, key.origin, key.source, key.state, key.usedBy.join(", ")];
  });
  const problems = keys.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  const lines = problems.flatMap(({ message, hint }) => (hint === null ? [message] : [message, `  ${hint}`]));
  return [formatTable(HEADINGS, rows), ...new Set(lines)];
}
