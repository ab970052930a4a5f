import { NO_REQUIREMENTS, type Target } from "./target.ts";

/** No proxy: the limit of client and upstream. */
export const direct: Target = { ...NO_REQUIREMENTS, name: "direct", findVersion: () => "", launch: null };
