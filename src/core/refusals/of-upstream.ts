/** True for the code of a refusal because of the upstream, not of the request, a key or a rule. */
export function isOfUpstream(code: string | null): boolean {
  return code !== null && /^(?:upstream_|loop_)/.test(code);
}
