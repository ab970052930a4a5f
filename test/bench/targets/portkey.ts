import { installedVersion, packageFile } from "./gateway-packages.ts";
import { launchCommand, NO_REQUIREMENTS, type Target } from "./target.ts";

const PACKAGE = "@portkey-ai/gateway";

/** Portkey's gateway without its console. Each request tells it the upstream. */
export const portkey: Target = {
  ...NO_REQUIREMENTS,
  name: "portkey",
  isTransparent: false,
  headers: (upstreamPort) => [
    "x-portkey-provider: anthropic",
    `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`,
  ],
  findVersion: () => installedVersion(PACKAGE),
  launch({ port, launcher, directory }) {
    const script = packageFile(PACKAGE, "build/start-server.js");
    const env = { PATH: process.env["PATH"], HOME: directory };
    return launchCommand([...launcher, process.execPath, script, `--port=${port}`, "--headless"], { env });
  },
};
