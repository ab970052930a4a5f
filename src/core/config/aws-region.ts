import { isObject } from "../json.ts";
import type { Issue } from "./problem.ts";

// What the configuration says of requests that are signed for AWS.

const REGION = /^[a-z]{2,8}(?:-[a-z]+){1,3}-\d{1,2}$/;

/** The hosts of Amazon Bedrock, those of VPC endpoints included. Each names its region. */
const HOST =
  /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z\d-]+)\.(?:(?:vpce\.)?amazonaws\.com(?:\.cn)?|api\.aws)$/;

/** Returns what is wrong with the name of a region; null if nothing is. */
export function checkRegion(text: string): string | null {
  return REGION.test(text) ? null : 'must be a region of AWS, such as "eu-west-1"';
}

/** Returns the region that the host of a base URL names; null for any other host. */
export function regionOfHost(baseUrl: string): string | null {
  if (!URL.canParse(baseUrl)) return null;
  return HOST.exec(new URL(baseUrl).hostname)?.[1] ?? null;
}

/** Finds issues between `auth` and the settings that go with it. Takes any JSON value. */
export function findSigningIssues(name: string, upstream: unknown): Issue[] {
  if (!isObject(upstream)) return [];
  const { auth, apis, keySource, routes, region, baseUrl } = upstream;
  const issue = (key: string, message: string): Issue => ({ path: ["upstreams", name, key], message });
  if (auth !== "sigv4") {
    return region === undefined || region === null
      ? []
      : [issue("region", 'counts only with "auth": "sigv4"; remove it, or add that')];
  }
  const issues: Issue[] = [];
  if (!Array.isArray(apis) || apis.length !== 1 || apis[0] !== "bedrock")
    issues.push(issue("apis", 'must be ["bedrock"], because "auth": "sigv4" signs nothing else'));
  if (!isObject(keySource) || keySource["command"] === undefined)
    issues.push(issue("keySource", `must name a command that prints AWS access keys, such as ${EXAMPLE}`));
  if (Array.isArray(routes) && routes.length > 0)
    issues.push(issue("routes", 'must be empty, because "auth": "sigv4" signs the built-in routes only'));
  if (typeof region !== "string" && typeof baseUrl === "string" && regionOfHost(baseUrl) === null)
    issues.push(issue("region", 'must be a region of AWS, such as "eu-west-1": the host names none'));
  return issues;
}

/** Of AWS's command line. */
const EXAMPLE = JSON.stringify({
  command: ["aws", "configure", "export-credentials", "--format", "process"],
});
