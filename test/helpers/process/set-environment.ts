import type { TestContext } from "node:test";

/** Sets environment variables of this process, or unsets those that are undefined, until the test ends. */
export function setEnvironment(t: TestContext, env: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(env)) {
    const before = process.env[name];
    setVariable(name, value);
    t.after(() => setVariable(name, before));
  }
}

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
