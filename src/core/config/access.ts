import { list, object, shortOrObject } from "./shape/composites.ts";
import { choice, integer } from "./shape/scalars.ts";

/** The highest uid on Linux and macOS; the value above it means "no user" (chown(2)). */
const MAX_UID = 4_294_967_294;

const accessMode = choice("open", "token");

/** Which programs on this machine are served: one word, or an object with more options. */
export const access = shortOrObject(
  accessMode,
  object({
    mode: accessMode
      .default("open")
      .describe(
        'Who is served: every program of yours, or with "token" those alone that show a local token.',
      ),
    peerUid: list(integer(0, MAX_UID))
      .default([])
      .describe(
        "Users beside yourself and root whose programs may connect, by uid, e.g. those of containers.",
      ),
  }),
).resolve((given) => (typeof given === "string" ? { mode: given, peerUid: [] } : given));
