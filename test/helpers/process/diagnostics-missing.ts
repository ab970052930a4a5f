import { spawnSync } from "node:child_process";
import { hasSocketDiagnostics } from "../../../src/service/systemd/has-sock-diag.ts";
import { WITH_DIAGNOSTICS } from "./diagnostics-socket.ts";

/** Returns why no socket for the kernel's diagnostics can be opened here; false where one can. */
export function diagnosticsMissing(): string | false {
  if (!hasSocketDiagnostics()) return "needs Linux with sock_diag(7)";
  const [file = "", ...words] = WITH_DIAGNOSTICS;
  const { status } = spawnSync(file, [...words, "true"], { stdio: "ignore" });
  return status === 0 ? false : "needs perl, and a netlink socket, which this container forbids";
}
