import { checkConfig } from "../../../src/core/config/check-config.ts";
import { formatConfigPath } from "../../../src/core/config/problem.ts";

/** The problems of a configuration file's value, each as `path: message`; none for a good file. */
export function problemsOf(file: unknown): string[] {
  const verdict = checkConfig(file, "/home/ada");
  return verdict.ok ? [] : verdict.issues.map(({ path, message }) => `${formatConfigPath(path)}: ${message}`);
}

/** A file with one upstream, which has these keys beside a good address. */
export function withUpstream(more: object) {
  return { upstreams: { default: { baseUrl: "https://api.example.com/v1", ...more } } };
}

/** A file with one extra route, which has these keys beside good ones. */
export function withRoute(more: object) {
  return withUpstream({ routes: [{ method: "POST", path: "/x", auth: "bearer", dialect: "none", ...more }] });
}
