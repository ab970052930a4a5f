/** Where the container has {@link HANG_MODULE}. */
export const HANG_PATH = "/usr/local/lib/tollkeeper-hang.mjs";

/** Loaded into the daemon by NODE_OPTIONS, with no word of it in the product: SIGUSR2 makes its event loop hang for good. */
export const HANG_MODULE = `process.on("SIGUSR2", () => { for (;;); });\n`;
