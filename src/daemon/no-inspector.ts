/**
 * With a listener of ours Node does not open its inspector on SIGUSR1, in which every user of the machine and, by DNS
 * rebinding, web pages could read the key (facts/threats.md B9; Node's documentation, "Signal events"). Imported for
 * this alone, and before all else; what a signal did before that, `hardenProcess` finds.
 */
process.on("SIGUSR1", () => {});
