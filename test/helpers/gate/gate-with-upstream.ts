import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { startRawUpstream, type RawScript, type RawUpstream } from "../upstream/raw-upstream.ts";
import {
  startHeldUpstream,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from "../upstream/scripted-upstream.ts";
import { startGate, type GateOptions, type TestGate } from "./gate.ts";

/** Starts a scripted upstream and a gate in front of it. Both end with the test. */
export async function startGateWithUpstream(
  t: TestContext,
  script: Script,
  options: GateOptions = {},
): Promise<{ upstream: ScriptedUpstream; gate: TestGate }> {
  const upstream = await startUpstream(t, script);
  return { upstream, gate: await startGate(t, upstream.baseUrl, options) };
}

/** Starts a raw upstream and a gate in front of it. Both end with the test. */
export async function startGateWithRawUpstream(
  t: TestContext,
  script: RawScript,
  { at = "end", ...options }: GateOptions & { at?: "head" | "end" } = {},
): Promise<{ upstream: RawUpstream; gate: TestGate }> {
  const upstream = await startRawUpstream(t, script, { at });
  return { upstream, gate: await startGate(t, upstream.baseUrl, options) };
}

/** Starts an upstream that hands its first response, an event stream, to the test, and a gate in front of it. */
export async function startGateWithHeldUpstream(
  t: TestContext,
  options: GateOptions = {},
): Promise<{ upstream: ScriptedUpstream; held: Promise<ServerResponse>; gate: TestGate }> {
  const { upstream, held } = await startHeldUpstream(t);
  return { upstream, held, gate: await startGate(t, upstream.baseUrl, options) };
}
