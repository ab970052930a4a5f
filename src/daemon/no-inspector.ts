/**
 * Keeps Node from opening its inspector on SIGUSR1, which it does unless there is a listener (Node's documentation, "Signal
 * events"). In the inspector every user of the machine and, by DNS rebinding, web pages could read the key (SECURITY.md B9).
 * Imported for this effect, before everything else. `hardenProcess` detects an inspector that was opened earlier.
 */
process.on("SIGUSR1", () => {});
