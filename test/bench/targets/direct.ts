import { PLAIN, type Target } from "./target.ts";

/** No proxy at all: what client and upstream can do. */
export const direct: Target = { ...PLAIN, name: "direct", findVersion: () => "", launch: null };
