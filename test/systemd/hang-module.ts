/** Path of {@link HANG_MODULE} in the container. */
export const HANG_PATH = "/usr/local/lib/tollkeeper-hang.mjs";

/** A module that NODE_OPTIONS loads into the daemon: on SIGUSR2 the event loop hangs forever. */
export const HANG_MODULE = `process.on("SIGUSR2", () => { for (;;); });\n`;
