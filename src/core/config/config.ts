import { configSchema } from "./schema.ts";
import type { OutputOf } from "./shape.ts";

/**
 * The resolved configuration: defaults filled in, addresses parsed, paths absolute. Times are in milliseconds, sizes in
 * bytes; schema.ts describes each key. Without upstreams the built-in sandbox serves. Look tools up with `chooseUpstream`,
 * because clients choose their own tool names.
 */
export type Config = OutputOf<typeof configSchema>;

/** An upstream: its name, address (`baseUrl` without trailing slash, `origin`, `basePath`), key and routes. */
export type Upstream = Config["upstreams"][string];

/** Who is served: `mode`, and the uids of other users whose programs are admitted (`peerUid`). */
export type Access = Config["access"];

/** The header that carries a route's credential: `Authorization: Bearer`, or `x-api-key`. */
export type Auth = Upstream["countTokensAuth"];

/** The configuration of an empty file. */
export const defaultConfig: Config = resolve({});

/** Returns an upstream with this name and base URL, and defaults for everything else. */
export function createUpstream(name: string, baseUrl: string): Upstream {
  const [upstream] = Object.values(resolve({ upstreams: { [name]: { baseUrl } } }).upstreams);
  if (upstream === undefined) throw new Error("an upstream was lost");
  return upstream;
}

/** Resolves a configuration that the program itself has written. Throws when it is not valid. */
function resolve(file: object): Config {
  const result = configSchema.read(file, []);
  if ("issues" in result) throw new Error("a configuration of our own is not good");
  return result.value;
}
