import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVENTS } from "../responses.ts";
import { installedVersion, packageFile } from "./gateway-packages.ts";
import { launchCommand, NO_REQUIREMENTS, type LaunchOptions, type Target } from "./target.ts";

const PACKAGE = "@musistudio/claude-code-router";
const PROVIDER = "bench";

/** claude-code-router without its log, passing Messages on unchanged. */
export const claudeCodeRouter: Target = {
  ...NO_REQUIREMENTS,
  name: "claude-code-router",
  isTransparent: false,
  modelPrefix: `${PROVIDER},`,
  findVersion: () => installedVersion(PACKAGE),
  launch(options) {
    const { launcher, directory } = options;
    mkdirSync(join(directory, ".claude-code-router"));
    writeFileSync(join(directory, ".claude-code-router", "config.json"), configure(options));
    const env = { PATH: process.env["PATH"], HOME: directory };
    return launchCommand([...launcher, process.execPath, packageFile(PACKAGE, "dist/cli.js"), "start"], {
      env,
    });
  },
};

function configure({ port, upstreamPort }: LaunchOptions): string {
  const provider = {
    name: PROVIDER,
    api_base_url: `http://127.0.0.1:${upstreamPort}/v1/messages`,
    api_key: "key-of-the-bench",
    models: Object.keys(EVENTS).map((response) => `bench-${response}`),
    transformer: { use: ["Anthropic"] },
  };
  return JSON.stringify({
    PORT: port,
    HOST: "127.0.0.1",
    LOG: false,
    NON_INTERACTIVE_MODE: true,
    Providers: [provider],
    Router: { default: `${PROVIDER},bench-json` },
  });
}
