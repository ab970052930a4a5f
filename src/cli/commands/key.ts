import type { Argv, CommandModule } from "yargs";
import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import { checkKeyName } from "../../core/config/names.ts";
import { listConfiguredKeys } from "../../core/policy/configured-keys.ts";
import { Failure } from "../../core/failure.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import { parseApiKey } from "../../core/secrets/api-key.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { note, print } from "../terminal/console.ts";
import { notifyDaemon } from "../../daemon/client.ts";
import { hardenProcess } from "../../daemon/harden.ts";
import { listKeys, renderKeys } from "../keys/list-keys.ts";
import { loadConfig } from "../load-config.ts";
import { findKey, type KeyArguments, type KeyTarget } from "../keys/find-key.ts";
import { fetchModels } from "../keys/fetch-models.ts";
import { readSecretText } from "../terminal/read-secret.ts";

/** How many positional arguments yargs counts for `key set`; the name is counted separately. */
const COMMAND_WORDS = 2;

const VALUE_ON_COMMAND_LINE =
  "the key itself is never an argument, because every process of the machine and the shell's history would see it; " +
  "type it when asked, or pipe it in";

const setCommand: CommandModule<object, KeyArguments> = {
  command: "set [name]",
  describe: "Store a key in the keychain, typed without being shown or read from standard input",
  builder: (yargs) =>
    // The error message of yargs for an extra argument would repeat it, and it may be the key.
    targetOptions(yargs)
      .strict(false)
      .strictOptions()
      .check(({ _: words }) => (words.length > COMMAND_WORDS ? VALUE_ON_COMMAND_LINE : true)),
  handler: async (argv) => setKey(await findKey(argv)),
};

const listCommand: CommandModule<object, ReportArguments> = {
  command: "list",
  describe: "Show every key that the configuration names, and whether it is there",
  builder: reportOptions,
  handler: async ({ config, json }) => {
    const keys = await listKeys(await loadConfig(config), createKeySources(createKeychain()));
    if (json) print(JSON.stringify(keys, null, 2));
    else if (keys.length === 0) print("the configuration names no key");
    else for (const line of renderKeys(keys)) print(line);
  },
};

const testCommand: CommandModule<object, KeyArguments> = {
  command: "test [name]",
  describe: "Ask the upstream for its models with the key",
  builder: targetOptions,
  handler: async (argv) => {
    const { config, upstream, ref } = await findKey(argv);
    const secret = await createKeySources(createKeychain()).read(ref);
    const { models: count } = await fetchModels(upstream, secret, config.outbound);
    const models = count === null ? "" : `: ${count} ${count === 1 ? "model" : "models"}`;
    print(`accepted by ${upstream.baseUrl}${models}`);
  },
};

const removeCommand: CommandModule<object, KeyArguments> = {
  command: "remove [name]",
  describe: "Remove a key from the keychain",
  builder: targetOptions,
  handler: async (argv) => removeKey(await findKey(argv)),
};

/** `tollkeeper key`: stores, lists, tests and removes keys. Never prints a key. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .middleware(() => {
        for (const warning of hardenProcess()) note(`warning: ${warning}`);
      })
      .command(setCommand)
      .command(listCommand)
      .command(testCommand)
      .command(removeCommand)
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

async function setKey({ config, upstream, ref }: KeyTarget): Promise<void> {
  requireKeychainSource({ upstream, ref });
  const what = `key "${ref.name}" for ${ref.origin}`;
  const text = await readSecretText(`${what} (nothing shows while you type): `);
  await createKeychain().write(ref, parseApiKey(text));
  print(`stored ${what} (upstream ${upstream.name}); it is sent to that origin only`);
  const isNamed = listConfiguredKeys(config).some(
    (key) => key.ref.name === ref.name && key.ref.origin === ref.origin,
  );
  if (!isNamed) note(`note: the configuration does not name "${ref.name}" yet; see tollkeeper config edit`);
  await notifyOfChange();
}

async function removeKey({ upstream, ref }: KeyTarget): Promise<void> {
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
