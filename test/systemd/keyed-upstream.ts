import type { TestContext } from "node:test";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { CONFIG, service } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

export const KEY_FILE = `${SERVICE_USER.home}/.keys/example`;

/** The configuration of the last {@link startKeyedUpstream}. */
let healthy = {};

/** Starts an upstream until the end of the test, and writes a configuration with which `doctor` finds nothing wrong. */
export async function startKeyedUpstream(t: TestContext): Promise<void> {
  const { baseUrl } = await startUpstream(t, (_seen, res) => sendJson(res, { data: [{ id: "a" }] }));
  service.ownFile(KEY_FILE, "some-key-of-the-test\n");
  healthy = { upstreams: { default: { baseUrl, keySource: { file: KEY_FILE } } } };
  service.ownFile(CONFIG, JSON.stringify(healthy));
}

/** Returns the text of the healthy configuration with some changes. */
export function configWith(changes: object): string {
  return JSON.stringify({ ...healthy, ...changes });
}

/** Returns the text of the healthy configuration with another source of its key. */
export function configWithKeySource(keySource: object): string {
  const { upstreams } = healthy as { upstreams: { default: object } };
  return configWith({ upstreams: { default: { ...upstreams.default, keySource } } });
}
