import {
  openControlSocket,
  type ControlHandlers,
  type ControlSocket,
} from "../../adapters/control-socket.ts";
import { formatAddress, removeAddress } from "../../adapters/control-socket/address-file.ts";
import { addressPath, runtimeDirectory } from "../../adapters/paths.ts";
import { writeStateFile } from "../../adapters/state-file.ts";
import { join } from "node:path";
import type { Log } from "../../ports.ts";
import { chooseControlPaths, CONTROL_SOCKET, trustedOwners } from "./find-path.ts";

/**
 * Opens the control socket and writes down where it is, so that every command finds it. When the session's directory goes with the
 * session and the daemon stays, the socket moves to the state directory. Throws as `openControlSocket` does.
 */
export async function openControl(handlers: ControlHandlers, log: Log): Promise<ControlSocket> {
  const [path = join(runtimeDirectory(), CONTROL_SOCKET), spare] = chooseControlPaths();
  const place = spare === undefined ? undefined : { path: spare, onMove: () => announce(spare, log) };
  const control = await openControlSocket(path, handlers, log, place);
  announce(path, log);
  return {
    close() {
      removeAddress(addressPath(), trustedOwners());
      return control.close();
    },
  };
}

/** Without the file, commands look in the usual places. */
function announce(control: string, log: Log): void {
  try {
    writeStateFile(addressPath(), formatAddress(control));
  } catch (error) {
    log.warn(
      { err: error },
      "commands outside this session may not find this daemon: its address cannot be written down",
    );
  }
}
