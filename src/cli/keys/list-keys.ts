import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import type { Config } from "../../core/config/config.ts";
import { KeyFailure } from "../../core/failure.ts";
import { listSecretHeaders } from "../../core/export/header-secrets.ts";
import { leaveOutUnneeded, listConfiguredKeys } from "../../core/policy/configured-keys.ts";
import { describeKeySource, type KeyRef } from "../../core/secrets/key-source.ts";
import type { KeyStore, WritableKeyStore } from "../../ports.ts";
import { attempt } from "../attempt.ts";
import type { ReportArguments } from "../command.ts";
import { loadConfig } from "../load-config.ts";
import { print, printJson, printStyled } from "../terminal/console.ts";
import { formatTable, type Column } from "../terminal/table.ts";
import { wrapAdvice } from "../terminal/wrap.ts";
import { toPrintable } from "../../core/text/printable.ts";

/** One key, as `key list --json` prints it. Reveals neither its value nor its length. */
export interface ListedKey {
  name: string;
  /** null for the secret of a header for a collector, and for a stored key that the configuration does not name. */
  upstream: string | null;
  origin: string;
  source: string;
  /** `stored`, or the code of a `KeyFailure`. */
  state: "stored" | KeyFailure["code"];
  /** What is wrong and how to fix it; null for a stored key. */
  problem: { message: string; hint: string | null } | null;
  /** The configured tools that use it. */
  usedBy: string[];
}

/** Prints every key that the configuration names, then those that are stored beside them. */
export async function listKeys({ config, json }: ReportArguments): Promise<void> {
  const keychain = createKeychain();
  const settings = await loadConfig(config);
  const sources = createKeySources(keychain);
  const named = [...(await lookUpAll(settings, sources)), ...(await lookUpHeaders(settings, sources))];
  const keys = [...named, ...(await findUnnamed(named, keychain))];
  if (json) printJson(keys);
  else if (keys.length === 0) print("The configuration names no key, and none is stored.");
  else printStyled(renderKeys(keys, process.stdout.columns || Infinity));
}

/** Looks up every key, one after another, because keychains serve one caller at a time. */
async function lookUpAll(config: Config, store: KeyStore): Promise<ListedKey[]> {
  const found: { ref: KeyRef; isOwn: boolean; listed: ListedKey }[] = [];
  for (const configured of listConfiguredKeys(config)) {
    if (configured.ref.source.kind === "none") continue;
    found.push({
      ...configured,
      listed: await lookUp(configured.ref, configured.upstream.name, configured.usedBy, store),
    });
  }
  return leaveOutUnneeded(found, ({ listed }) => listed.state === "missing").map(({ listed }) => listed);
}

/** Looks up the secrets of headers for a collector. */
async function lookUpHeaders({ export: { otlp } }: Config, store: KeyStore): Promise<ListedKey[]> {
  const found: ListedKey[] = [];
  for (const { ref } of otlp === null ? [] : listSecretHeaders(otlp))
    found.push(await lookUp(ref, null, ["export"], store));
  return found;
}

async function lookUp(
  ref: KeyRef,
  upstream: string | null,
  usedBy: string[],
  store: KeyStore,
): Promise<ListedKey> {
  const { failure } = await attempt(KeyFailure, () => store.read(ref));
  return {
    name: ref.name,
    upstream,
    origin: ref.origin,
    source: describeKeySource(ref.source),
    usedBy,
    state: failure?.code ?? "stored",
    problem: failure && { message: failure.messageForOwner, hint: failure.hint ?? null },
  };
}

/** A keychain that cannot be listed has been reported with the keys that it should have; without such keys it is not needed. */
async function findUnnamed(named: readonly ListedKey[], keychain: WritableKeyStore): Promise<ListedKey[]> {
  const { value } = await attempt(KeyFailure, () => keychain.list());
  const isNamed = (name: string, origin: string) =>
    named.some((key) => key.source === "keychain" && key.name === name && key.origin === origin);
  return (value ?? [])
    .filter(({ name, origin }) => !isNamed(name, origin))
    .map((key) => ({
      ...key,
      upstream: null,
      source: "keychain",
      usedBy: [],
      state: "stored",
      problem: null,
    }));
}

const COLUMNS: readonly Column[] = [
  { head: "key", align: "left", long: "cut" },
  { head: "upstream", align: "left", long: "cut" },
  { head: "origin", align: "left", long: "whole", order: 4 },
  { head: "source", align: "left", long: "path", order: 3 },
  { head: "state", align: "left", long: "whole" },
  { head: "used by", align: "left", order: 2 },
];

/** Most keys are for all tools, which need no names then. */
function describeUsers({ usedBy }: ListedKey, everyTool: number): string {
  return usedBy.length > 2 && usedBy.length === everyTool ? `all ${usedBy.length} tools` : usedBy.join(", ");
}

/** Renders the keys as a table, followed by each distinct problem. Control characters are escaped. `width` is Infinity in a pipe. */
export function renderKeys(keys: readonly ListedKey[], width: number): string {
  const everyTool = new Set(keys.flatMap(({ usedBy }) => usedBy)).size;
  const rows = keys.map((key) =>
    [key.name, key.upstream ?? "none", key.origin, key.source, key.state, describeUsers(key, everyTool)].map(
      toPrintable,
    ),
  );
  const problems = keys.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  const said = problems.map(({ message, hint }) =>
    [
      ...wrapAdvice(toPrintable(message), width),
      ...(hint === null ? [] : wrapAdvice(toPrintable(hint), width - 2).map((line) => `  ${line}`)),
    ].join("\n"),
  );
  const unnamed = keys.some(({ upstream, usedBy }) => upstream === null && usedBy.length === 0)
    ? wrapAdvice("A key without an upstream is stored, but the configuration does not name it.", width)
    : [];
  return [formatTable(COLUMNS, rows, false, width), ...new Set(said), ...unnamed].join("\n");
}
