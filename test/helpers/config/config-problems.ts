import { checkConfig } from "../../../src/core/config/config.ts";
import { formatConfigPath } from "../../../src/core/config/problem.ts";

/** Checks a configuration file's value and returns its problems, each as `path: message`. */
export function problemsOf(file: unknown): string[] {
  const verdict = checkConfig(file, "/home/ada");
  return verdict.ok ? [] : verdict.issues.map(({ path, message }) => `${formatConfigPath(path)}: ${message}`);
}

/** A file with one upstream, which has a valid address and these keys. */
export function withUpstream(more: object) {
  return { upstreams: { default: { baseUrl: "https://api.example.com/v1", ...more } } };
}

/** A file with one extra route, which is valid except for these keys. */
export function withRoute(more: object) {
  return withUpstream({ routes: [{ method: "POST", path: "/x", auth: "bearer", dialect: "none", ...more }] });
}
