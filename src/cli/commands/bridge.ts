import { runBridge } from "../bridge/run-bridge.ts";
import type { Command } from "../command.ts";
import { isPort, type BridgeArguments } from "./bridge/arguments.ts";

/** `tollkeeper bridge`: makes the daemon's Unix socket a loopback port, inside a container or on a remote host. */
export const command: Command<BridgeArguments> = {
  builder: (yargs) =>
    yargs
      .option("socket", {
        type: "string",
        demandOption: true,
        describe: 'Path, as this container or host sees it, of the socket that "listen.socket" names',
      })
      .option("port", {
        type: "number",
        describe: "Port on 127.0.0.1 and ::1, 8655 by default; 0 chooses a free one",
      })
      .check(
        ({ port }) => port === undefined || isPort(String(port)) || '"--port" needs a number from 0 to 65535',
      )
      .epilogue(
        "It reads no configuration and has no key. SIGTERM or SIGINT stops it when its connections have ended, after 30 seconds at most; a second signal stops it at once.",
      ),
  handler: ({ socket, port }) => runBridge({ socket, port }),
};
