import { list, object, shortOrObject } from "./shape/composites.ts";
import { choice, integer } from "./shape/scalars.ts";

/** The highest uid of Linux and macOS; the one above it stands for none (chown(2)). */
const MAX_UID = 4_294_967_294;

const accessMode = choice("open", "token");

/** Which programs of this machine are served: in a word, or as an object that says more. */
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
