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
        describe: 'Path of the socket that "listen.socket" names on the host, as it is seen here',
      })
      .option("port", {
        type: "number",
        describe: "Port on 127.0.0.1 and ::1, 8655 by default; 0 chooses a free one",
      })
      .check(
        ({ port }) => port === undefined || isPort(String(port)) || '"--port" needs a number from 0 to 65535',
      )
      .epilogue(
        "It reads no configuration and knows no key. SIGTERM and SIGINT stop it when its connections have ended, at most 30 seconds later; a second signal stops it at once.",
      ),
  handler: ({ socket, port }) => runBridge({ socket, port }),
};
