/** Prints that the tests in a real systemd were skipped. Returns exit code 0, since that is no failure. */
export function reportSkipped(reason: string): number {
  console.log(`SKIPPED: test:systemd, the service in a booted systemd: ${reason}`);
  return 0;
}
