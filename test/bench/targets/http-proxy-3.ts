import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launchCommand, NO_REQUIREMENTS, type Target } from "./target.ts";

const SCRIPT = fileURLToPath(new URL("bare-proxy.js", import.meta.url));
const MANIFEST = new URL("../../../node_modules/http-proxy-3/package.json", import.meta.url);

/** Bare http-proxy-3, the library that tollkeeper uses, with a keep-alive agent: no admission, no meter, no ledger. */
export const httpProxy3: Target = {
  ...NO_REQUIREMENTS,
  name: "http-proxy-3",
  findVersion: () => (JSON.parse(readFileSync(MANIFEST, "utf8")) as { version: string }).version,
  launch: ({ port, upstreamPort, launcher }) =>
    launchCommand([...launcher, process.execPath, SCRIPT, String(port), String(upstreamPort)]),
};
