// What the keychain's errors are explained with on macOS. Its texts are from reports and documentation, not recorded here.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { ON_MACOS } from "../../helpers/launchd/fake-launchd.ts";

const FAILURES = new URL("../../../src/adapters/keychain/failures.ts", import.meta.url).href;

/** Returns the failure for an error text of keytar, as a process on macOS would. */
function failureOnMac(text: string): { message: string; hint: string } {
  const program = `
    const { failureOf } = await import(${JSON.stringify(FAILURES)});
    const { message, hint } = failureOf(${JSON.stringify(text)}, { setArguments: "key set" });
    console.log(JSON.stringify({ message, hint }));
  `;
  const words = [ON_MACOS, "--import", "tsx", "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  assert.equal(stderr, "");
  return JSON.parse(stdout) as { message: string; hint: string };
}

const ASKS_AGAIN =
  'if macOS asks again although you chose "Always Allow", store the key again: tollkeeper key remove, then: tollkeeper key set';

test("an item that refuses the program, or whose prompt nobody answers, is to be made anew if Always Allow does not last", () => {
  const refused = failureOnMac("The user name or passphrase you entered is not correct.");
  assert.match(refused.message, /^the keychain denies access to this program: /);
  assert.equal(refused.hint, `allow it when asked; ${ASKS_AGAIN}`);
  assert.match(failureOnMac("Timeout was reached").hint, new RegExp(`^answer the prompt.*; ${ASKS_AGAIN}$`));
});

test("a keychain that is locked, as over ssh, is to be unlocked", () => {
  assert.equal(failureOnMac("User interaction is not allowed.").hint, "unlock it: security unlock-keychain");
});
