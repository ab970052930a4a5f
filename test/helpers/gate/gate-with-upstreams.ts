import type { TestContext } from "node:test";
import type { Config, Upstream } from "../../../src/core/config/config.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { startUpstream, type Script, type ScriptedUpstream } from "../upstream/scripted-upstream.ts";
import { startGate, upstreamAt, type GateOptions, type TestGate } from "./gate.ts";

/** An upstream of a test: what it answers, and its settings. */
export interface NamedUpstream {
  script: Script;
  settings?: Partial<Upstream>;
}

/** Returns the key that the gate has for an upstream. */
export function keyOf(upstream: string): string {
  return `sk-${upstream}-4711-sentinel`;
}

/** Starts a gate in front of several scripted upstreams, each with a key of its own: {@link keyOf}. All end with the test. */
export async function startGateWithUpstreams<Name extends string>(
  t: TestContext,
  named: Record<Name, NamedUpstream>,
  options: GateOptions = {},
): Promise<{ gate: TestGate; upstreams: Record<Name, ScriptedUpstream> }> {
  const gate = await startGate(t, "http://127.0.0.1:9/v1", options);
  const started = await Promise.all(
    (Object.entries(named) as [Name, NamedUpstream][]).map(async ([name, { script, settings }]) => {
      const upstream = await startUpstream(t, script);
      gate.keys.set({ name: "default", origin: upstream.origin }, keyOf(name));
      return { name, upstream, config: upstreamAt(upstream.baseUrl, { name, ...settings }) };
    }),
  );
  const upstreams = Object.fromEntries(started.map(({ name, config }) => [name, config]));
  useConfig(gate, { upstreams });
  return {
    gate,
    upstreams: Object.fromEntries(started.map(({ name, upstream }) => [name, upstream])) as Record<
      Name,
      ScriptedUpstream
    >,
  };
}

/** Changes the gate's configuration. */
export function useConfig({ gate }: TestGate, changes: Partial<Config>): void {
  gate.use(prepareSettings({ ...gate.settings.config, ...changes }));
}
