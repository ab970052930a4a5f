// Further reports at every width, with random names: no line is wider than the terminal, but a command that is to be copied.
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { layOutCommandHelp } from "../../../src/cli/command-line/command-help.ts";
import { renderGeneralHelp } from "../../../src/cli/command-line/general-help.ts";
import { renderFindings, renderProblems } from "../../../src/cli/commands/doctor.ts";
import {
  OTHER_COLUMNS,
  ROUTE_COLUMNS,
  routeRows,
  summariseRoutes,
} from "../../../src/cli/commands/route/summary.ts";
import { formatBrakes, formatGroups } from "../../../src/cli/commands/rules/format-rules.ts";
import { renderSettings } from "../../../src/cli/config/explain-value.ts";
import { layOutProse } from "../../../src/cli/terminal/prose.ts";
import { formatTable } from "../../../src/cli/terminal/table.ts";
import { widthOf } from "../../../src/cli/terminal/width.ts";
import { renderPage } from "../../../src/cli/commands/live/explain/page.ts";
import { renderTools, type ListedTool } from "../../../src/cli/connect/list-tools.ts";
import { renderVerification } from "../../../src/cli/commands/ledger/verify-text.ts";
import { renderModel } from "../../../src/cli/commands/prices/model.ts";
import { renderOverview } from "../../../src/cli/commands/prices/overview.ts";
import { exampleRecord } from "../../../src/cli/prices/example.ts";
import { findDearest } from "../../../src/core/price/dearest.ts";
import { costOf } from "../../../src/core/price/cost.ts";
import { renderKeys } from "../../../src/cli/keys/list-keys.ts";
import { costInSums } from "../../../src/core/ledger/explain/request-cost.ts";
import type { Flag } from "../../../src/core/usage/reading.ts";
import { PRICES } from "../../helpers/ledger/priced-record.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";
import { programName } from "../../../src/adapters/program.ts";
import { checkConfig, defaultConfig } from "../../../src/core/config/config.ts";

const NOW = Date.parse("2026-11-24T12:00:00Z");
const WIDTHS = [60, 61, 66, 71, 72, 79, 80, 90, 99, 100, 119, 120, 160, 200, 240];
const RUNS = { numRuns: 25, endOnFailure: true };

const word = (most: number) => fc.stringMatching(new RegExp(`^[a-z][a-z0-9-]{0,${most - 1}}$`));
const sentence = fc.array(word(14), { minLength: 1, maxLength: 24 }).map((words) => words.join(" "));
const path = fc
  .array(word(16), { minLength: 1, maxLength: 6 })
  .map((parts) => `/home/ada/${parts.join("/")}`);

function assertFits(text: string, width: number): void {
  for (const line of stripVTControlCharacters(text).split("\n"))
    assert.ok(
      widthOf(line) <= width || /^ *(?:-> )?(?:tollkeeper|node \S+) /.test(line),
      `${width}: ${line}`,
    );
}

const view = (width: number) => ({ width, isColoured: true });

test("brakes and groups", () => {
  const brake = fc.record({
    kind: fc.constantFrom("tool", "group"),
    name: word(30),
    requestsPerMinute: fc.option(fc.integer({ min: 1, max: 9_999 })),
    concurrent: fc.option(fc.integer({ min: 1, max: 99 })),
    same: fc.option(
      fc.record({ times: fc.integer({ min: 1, max: 99 }), minutes: fc.integer({ min: 1, max: 99 }) }),
    ),
    keep: fc.option(fc.integer({ min: 1, max: 99 })),
  });
  fc.assert(
    fc.property(
      fc.array(brake, { minLength: 1, maxLength: 5 }),
      fc.array(word(24), { maxLength: 6 }),
      (brakes, models) => {
        const holds = brakes.map(({ kind, name }) => ({
          kind,
          name,
          keep: 10,
          lift: `tollkeeper brake remove ${name}`,
          account: "anthropic",
          window: "5h",
          leftPercent: 4,
          resetsAt: new Date(NOW + 3_600_000).toISOString(),
        }));
        const checked = checkConfig(
          { groups: { small: models.length === 0 ? {} : { models } } },
          "/home/ada",
        );
        assert.ok(checked.ok);
        const { config } = checked;
        for (const width of WIDTHS) {
          assertFits(formatBrakes(brakes, holds, NOW, view(width)), width);
          assertFits(formatGroups(config, Object.values(config.groups), view(width)), width);
        }
      },
    ),
    RUNS,
  );
});

test("doctor, with and without what is well", () => {
  const finding = fc
    .record({
      id: word(12),
      verdict: fc.constantFrom("ok" as const, "warning" as const, "failure" as const, "skipped" as const),
      message: sentence,
      advice: sentence,
    })
    .map(({ advice, ...rest }) => ({
      ...rest,
      // Findings of one check have its title, which stands once where they follow each other.
      title: rest.id,
      fix: rest.verdict === "ok" || rest.verdict === "skipped" ? null : `${advice}: tollkeeper ${rest.id}`,
    }));
  fc.assert(
    fc.property(fc.array(finding, { minLength: 1, maxLength: 12 }), (findings) => {
      for (const width of WIDTHS) {
        assertFits(renderFindings(findings, true, width), width);
        const text = renderProblems(findings, true, width);
        assertFits(text, width);
        for (const { verdict, title } of findings)
          if (verdict === "failure") assert.ok(stripVTControlCharacters(text).includes(title), text);
      }
    }),
    RUNS,
  );
});

test("route says every upstream, each reason once", () => {
  const choice = fc.record({
    upstream: word(24),
    baseUrl: fc.constant("https://example.com/v1"),
    key: fc.option(word(12)),
    isChosen: fc.boolean(),
    reason: fc.oneof(fc.constant("it has no such route"), sentence),
    credential: fc.constantFrom("key" as const, "client" as const),
  });
  const model = word(40);
  fc.assert(
    fc.property(fc.array(choice, { minLength: 1, maxLength: 5 }), model, (choices, name) => {
      const routes = (["messages", "responses", "chat"] as const).map((api) => ({
        request: { tool: null, api, model: name },
        alias: null,
        group: null,
        choices,
      }));
      const { answers, others } = summariseRoutes(routes);
      for (const width of WIDTHS) {
        assertFits(layOutProse(answers, width), Math.max(width, widthOf(name)));
        assertFits(formatTable(OTHER_COLUMNS, others, true, width), width);
        assertFits(formatTable(ROUTE_COLUMNS, routeRows(routes), true, width), width);
      }
      assert.ok(answers.length <= 2, answers.join("\n"));
    }),
    RUNS,
  );
});

test("explain, of any record", () => {
  const record = fc.record({
    tool: word(24),
    model: word(30),
    model_requested: fc.option(word(30)),
    project: fc.option(path),
    branch: fc.option(word(30)),
    session: fc.option(fc.uuid()),
    user_agent: fc.option(sentence),
    upstream: fc.constantFrom("openai", "gateway", "local", "plan:claude", "own:openai/3f2a91c0"),
    outcome: fc.constantFrom("completed", "cut", "error", "incomplete"),
    usage: fc.constantFrom("final", "partial"),
    flags: fc.subarray<Flag>(["undecided", "openai_names", "counts_fell", "extra_cut_short"]),
    counts: fc.record({
      input_uncached: fc.nat(10 ** 9),
      cache_read: fc.nat(10 ** 9),
      cache_write: fc.nat(10 ** 9),
      output: fc.nat(10 ** 9),
    }),
    isPriced: fc.boolean(),
  });
  fc.assert(
    fc.property(record, ({ counts, isPriced, model, ...fields }) => {
      const one = usageRecord({ ...fields, model: isPriced ? "gpt-5" : model, tokens: tokens(counts) });
      const measures = { cost: null, input: 5, cached: 0.5, output: 12_345_678, duration: 9_000 };
      const request = {
        record: one,
        ...costInSums(one, null, PRICES),
        prices: PRICES,
        routing: null,
        attempts: [],
        measures,
        usual: { project: one.project, requests: 12, medians: { ...measures, output: 3 } },
        before: null,
        missed: null,
      };
      for (const width of WIDTHS) assertFits(renderPage(request, view(width)), width);
    }),
    RUNS,
  );
});

test("ledger verify says first whether anything is wrong, and names no field of a record", () => {
  const file = fc.constantFrom("2026-11-20.ndjson", "2026-11-20.ndjson.gz", "2026-11-20.rollup");
  const finding = fc
    .record({
      file,
      line: fc.integer({ min: 1, max: 10 ** 7 }),
      kind: fc.constantFrom("torn", "unreadable", "impossible", "duplicate", "rollup", "kept_rollup"),
      what: fc.constantFrom(
        "it has the id of line 1 of 2026-11-20.ndjson",
        "ttft_ms is 20, more than the duration_ms of 1",
        'outcome is cut, but cut_by is "some_thing"',
        "cache_write is 9, but the five cache_write_* is 5",
        "not a record: its field billed_usd is wrong",
      ),
    })
    .map((one) =>
      // Only records have fields.
      one.kind === "impossible" || one.kind === "unreadable" ? one : { ...one, what: "it cannot be read" },
    );
  fc.assert(
    fc.property(
      fc.array(finding, { maxLength: 6 }),
      fc.boolean(),
      fc.nat(10 ** 9),
      (findings, isAll, count) => {
        const counts = { torn: 0, unreadable: 0, impossible: 0, duplicate: 0, rollup: 0, kept_rollup: 0 };
        for (const { kind } of findings) counts[kind] += 1;
        const found = {
          directory: "/home/ada/state/tollkeeper/ledger",
          days: 61,
          bytes: count,
          lines: count + 1,
          laterFormat: count % 3,
          summedOnly: count % 2 === 0 ? [] : ["2026-01-02.kept", "2026-01-03.kept"],
          findings,
          groups: new Map(findings.map((one, at) => [String(at), { count: 1 + at * 1000, first: [one] }])),
          counts,
          setAside: [{ file: "2026-11-21.torn", bytes: 5 }],
        };
        const total = {
          requests: count,
          failed: 1,
          input_uncached: count,
          cache_read: count,
          cache_write: count,
          output: count,
        };
        const problems = findings.filter(({ kind }) => kind !== "torn").length;
        for (const width of WIDTHS) {
          const text = renderVerification(found, total, isAll, view(width));
          assertFits(text.replaceAll(/^ {2}(?:ls|mv|sed|gzip) .*$/gm, ""), width);
          const plain = stripVTControlCharacters(text);
          assert.match(plain, problems === 0 ? /^No problems/ : new RegExp(`^${problems} problems? in `));
          assert.doesNotMatch(plain.replaceAll("some_thing", ""), /[a-z]_[a-z*]/);
        }
      },
    ),
    RUNS,
  );
});

test("prices, of all upstreams and of a model", () => {
  const upstream = fc.record({
    name: word(24),
    patterns: fc.array(word(24), { maxLength: 4 }),
    discount: fc.nat(99),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(upstream, { minLength: 1, maxLength: 4, selector: ({ name }) => name }),
      word(40),
      (all, name) => {
        const entries = all.map(({ name: one, patterns, discount }) => {
          const prices = Object.fromEntries(patterns.map((pattern) => [pattern, { input: 3, output: 15 }]));
          return [one, { baseUrl: "https://api.openai.com/v1", discount, prices }] as const;
        });
        const checked = checkConfig({ upstreams: Object.fromEntries(entries) }, "/home/ada");
        assert.ok(checked.ok, JSON.stringify(checked));
        const found = PRICES.find("default", "gpt-5", NOW);
        assert.ok(found !== null && found !== "free");
        const record = exampleRecord({ upstream: "default", model: "gpt-5", at: NOW }, found);
        const similar = PRICES.similar("default", "gpt-5-unknown", NOW);
        const assumed = findDearest(similar, null, { least: 0, most: 0 });
        const shown = { model: name, upstream: "default", contextWindow: 400_000 };
        const priced = { ...shown, prices: found, assumed: null, example: costOf(record, PRICES) };
        const unpriced = { ...shown, prices: null, assumed, example: null };
        for (const width of WIDTHS) {
          assertFits(renderOverview(checked.config, PRICES, 40, view(width)), width);
          assertFits(renderModel(priced, view(width)), width);
          assertFits(renderModel(unpriced, view(width)), width);
        }
      },
    ),
    RUNS,
  );
});

test("key list", () => {
  const key = fc.record({
    name: word(24),
    upstream: fc.option(word(24)),
    origin: fc.constantFrom("https://api.openai.com", "https://gateway.example"),
    source: fc.oneof(
      path.map((file) => `file ${file}`),
      fc.constant("keychain"),
    ),
    state: fc.constantFrom("stored" as const, "missing" as const),
    usedBy: fc.array(word(20), { maxLength: 6 }),
    problem: fc.option(fc.record({ message: sentence, hint: fc.option(sentence) })),
  });
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), (keys) => {
      for (const width of WIDTHS) assertFits(renderKeys(keys, width), width);
    }),
    RUNS,
  );
});

test("connect --list", () => {
  const listed = fc.record({
    title: word(24),
    tool: word(20),
    isInstalled: fc.boolean(),
    isRunnable: fc.boolean(),
    scopes: fc.subarray(["user", "project"] as const),
    tried: fc.option(word(16)),
    port: fc.option(fc.integer({ min: 1, max: 65_535 })),
    tokenFix: fc.option(fc.oneof(sentence, fc.constant("tollkeeper connect codex --scope project"))),
    isConnected: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(listed, { minLength: 1, maxLength: 5 }), (tools) => {
      const shown = tools.map(({ port, tokenFix, isConnected, ...facts }) => ({
        ...facts,
        source: "",
        date: "",
        connections: isConnected
          ? [
              {
                scope: "user",
                directory: null,
                since: null,
                state: "current",
                path: null,
                port,
                account: null,
                conflicts: [],
                tokenFix,
              },
            ]
          : [],
      })) as unknown as ListedTool[];
      for (const width of WIDTHS) assertFits(renderTools(shown, 8655, defaultConfig, width), width);
    }),
    RUNS,
  );
});

test("config explain", () => {
  const setting = fc.record({
    key: fc.array(word(14), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(".")),
    value: fc.array(word(12), { maxLength: 6 }),
    places: fc.array(fc.record({ file: path, line: fc.option(fc.nat(999)) }), { maxLength: 2 }),
    locked: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(setting, { minLength: 1, maxLength: 6 }), fc.boolean(), (settings, isOneFile) => {
      const shown = settings.map(({ places, ...one }) => ({
        ...one,
        places: isOneFile ? [{ file: "/home/ada/config.jsonc", line: 3 }] : places,
        source: "user",
        overruled: null,
        default: null,
        description: null,
      }));
      for (const width of WIDTHS) {
        const text = renderSettings(shown, width, true);
        assertFits(text, Math.max(width, width < 80 ? 90 : width));
        if (isOneFile) assert.equal(text.split("config.jsonc").length, 2);
      }
    }),
    RUNS,
  );
});

test("help, of the program and of a command", () => {
  const entry = fc.record({ usage: word(24), describe: sentence });
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 5 }), (commands) => {
      const help = [
        "tollkeeper usage",
        "",
        "Options:",
        ...commands.map(
          ({ usage, describe }) =>
            `      --${usage}  ${describe}  [array] [choices: "one", "two"] [default: "30d"]`,
        ),
      ].join("\n");
      for (const width of WIDTHS) {
        const general = renderGeneralHelp([{ title: "Some", commands }], width, true).split("\n");
        // Commands are as long as the program's name.
        if (width < 72) assertFits(general.filter((line) => !line.includes(programName())).join("\n"), width);
        const text = layOutCommandHelp(help, width, true);
        assertFits(text, width);
        assert.ok(text.includes("\u001b[1mOptions:\u001b[0m"));
        const long = `Commands:\n  tollkeeper usage session <of-a-long-name>  What it is\n\n${help}`;
        assert.ok(layOutCommandHelp(long, width, true).endsWith(text), "each section has columns of its own");
        assert.doesNotMatch(text, /\[array\]|choices/);
        assert.match(text.replaceAll(/\s+/g, " "), /; one of: one, two; default: 30d/);
      }
    }),
    RUNS,
  );
});
