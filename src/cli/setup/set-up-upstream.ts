import type { ValidConfig } from "../../adapters/config-file.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import { currentHost } from "../../adapters/paths.ts";
import type { ConfigPath } from "../../core/config/config-path.ts";
import type { Config } from "../../core/config/config.ts";
import { isLocked } from "../../core/config/managed.ts";
import { Failure } from "../../core/failure.ts";
import { resolveKeyRef } from "../../core/policy/configured-keys.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { notifyDaemon } from "../../daemon/running-daemon.ts";
import { planChanges, type PlannedChange } from "../config/change-value.ts";
import { SCHEMA_FILE, writeSchema } from "../config/edit-file.ts";
import type { KeyTarget } from "../keys/find-key.ts";
import { displayPath } from "../terminal/format.ts";
import { chooseService } from "./choose-service.ts";
import type { SetupOptions } from "./options.ts";
import type { Progress } from "./progress.ts";
import { provideKey } from "./provide-key.ts";
import { serviceAt, type Service } from "./services.ts";

const DEFAULT_NAME = "default";

/**
 * Sets up where requests go and the key for it. Changes nothing before both are known and have been tested. The key is
 * stored first, so that the configuration never names one that is missing.
 * @throws Failure with nothing changed, unless the progress says so
 */
export async function setUpUpstream(
  file: string,
  { config, managed }: Pick<ValidConfig, "config" | "managed">,
  options: SetupOptions,
  progress: Progress,
): Promise<void> {
  let { baseUrl } = options;
  const name = upstreamToSetUp(config);
  const isFixed = managed !== null && isLocked(["upstreams", name, "baseUrl"], managed.locked);
  const prepare = async (service: Service | null, given: Secret | null) => {
    const change = service === null ? null : await planService(file, name, service);
    const target = targetIn(change?.config ?? config, name);
    return { change, target, key: await provideKey(target, options, given, service?.signWith !== undefined) };
  };
  for (;;) {
    const { service, key: pasted } =
      isFixed && baseUrl === undefined
        ? { service: requireUpstream(config, name, managed.path), key: null }
        : await chooseService({ ...options, baseUrl }, config.upstreams[name] ?? null);
    let prepared = await prepare(service, pasted);
    // The server has said that it needs a key, which was not known when it was chosen.
    if (prepared.key === "needed")
      prepared = await prepare(serviceAt(prepared.target.upstream.baseUrl, true), null);
    const { change, target, key } = prepared;
    if (key === null || key === "needed") {
      // The service is chosen again, so the one that an option names no longer counts.
      baseUrl = undefined;
      continue;
    }
    if (key.secret !== null) await createKeychain().write(target.ref, key.secret);
    progress.add("key", key.description);
    change?.write();
    const place = isFixed ? managed.path : displayPath(file, currentHost().home);
    progress.addFirst("upstream", `${target.upstream.baseUrl}, in ${place}`);
    if (change !== null) await writeSchema(file);
    await notifyDaemon("reload");
    return;
  }
}

/** The file that a first setup writes its values into. */
const TEMPLATE = `{
  "$schema": "./${SCHEMA_FILE}",

  // Written by "tollkeeper setup". To change it, type "tollkeeper config edit", or run setup again.
  // Requests go to the upstream "default". Its key is in the keychain, never in this file.
  "upstreams": {},

  // Tools with a key of their own, such as "codex": { "key": "codex" }, stored by "tollkeeper key set codex".
  "tools": {},

  // Everything else has a default, which "tollkeeper config schema" explains.
}
`;

/** Removes what belongs to the previous service: the key from its source must not be sent to another origin. */
function planService(
  file: string,
  upstream: string,
  { baseUrl, auth, apis, websocket, signWith }: Service,
): Promise<PlannedChange> {
  const values = {
    baseUrl,
    auth: auth ?? undefined,
    apis: apis ?? undefined,
    websocket: websocket ?? undefined,
    keySource: signWith === undefined ? undefined : { command: [...signWith] },
    region: undefined,
  };
  const changes = Object.entries(values).map(
    ([name, value]) => [["upstreams", upstream, name] as ConfigPath, value] as const,
  );
  return planChanges(file, changes, TEMPLATE);
}

/** The only upstream, or the one called "default", which setup creates. @throws Failure when there are several others */
function upstreamToSetUp({ upstreams }: Config): string {
  const [first = DEFAULT_NAME, ...others] = Object.keys(upstreams);
  if (others.length === 0) return first;
  if (upstreams[DEFAULT_NAME] !== undefined) return DEFAULT_NAME;
  throw new Failure(
    "the configuration has several upstreams, and setup sets up only one",
    "change them with: tollkeeper config edit; then store each key with: tollkeeper key set --upstream NAME",
  );
}

/** Keeps the upstream that the managed file locks, as null does. @throws Failure when it locks that there is none */
function requireUpstream({ upstreams }: Config, name: string, managedPath: string): null {
  if (upstreams[name] !== undefined) return null;
  throw new Failure(
    `${managedPath} locks the upstreams, and sets none`,
    "ask the administrator of this machine for one",
  );
}

function targetIn(config: Config, name: string): KeyTarget {
  const upstream = config.upstreams[name];
  if (upstream === undefined)
    throw new Failure("no upstream is configured", "add one with: tollkeeper setup");
  return { config, upstream, ref: resolveKeyRef(upstream, null) };
}
