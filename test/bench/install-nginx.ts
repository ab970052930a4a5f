import { spawnSync, type SpawnSyncOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { nginx } from "./targets/nginx.ts";

/** Installs nginx when it is missing and this is Debian and we are root. Progress goes to standard error. */
export function installNginx(): void {
  if (nginx.findVersion() !== null || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.error("installing for the bench: nginx-light");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options: SpawnSyncOptions = { env, stdio: ["ignore", "ignore", "inherit"] };
  spawnSync("apt-get", ["update", "-q"], options);
  spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", "nginx-light"], options);
}
