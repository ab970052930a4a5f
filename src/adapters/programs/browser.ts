import { spawn } from "node:child_process";

/** The program that opens a URL with what its user has chosen for that. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", linux: "xdg-open" };

/** Opens a URL in the user's browser. Resolves to false where that cannot be started. */
export function openInBrowser(url: string): Promise<boolean> {
  const opener = OPENERS[process.platform];
  const hasScreen = process.platform === "darwin" || hasDisplay();
  if (opener === undefined || !hasScreen) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(opener, [url], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function hasDisplay(): boolean {
  return Boolean(process.env["DISPLAY"] ?? process.env["WAYLAND_DISPLAY"]);
}
