import { fileURLToPath } from "node:url";

/** Path of the file that the build writes. Resolved from a file that exists, because tsx completes the names of others. */
export const builtTable = fileURLToPath(
  new URL("dist/prices.json", import.meta.resolve("#package/package.json")),
);
