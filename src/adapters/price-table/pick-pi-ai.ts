// Typed by hand (docs/prices.md): picks the prices out of the package, which is too large to install with its dependencies.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PI_AI, PI_AI_FILE } from "./pi-ai.ts";

/** A model of the package, as far as prices need it. */
interface PackedModel {
  id: string;
  type?: string;
  cost: object;
  contextWindow?: number;
}

const scratch = mkdtempSync(join(tmpdir(), "tollkeeper-prices-"));
try {
  const version = process.argv[2] ?? "latest";
  const view = execFileSync("npm", ["view", `${PI_AI}@${version}`, "--json"], { encoding: "utf8" });
  const manifest = JSON.parse(view) as {
    version: string;
    license: string;
    time: Record<string, string>;
    dist: { integrity: string };
  };
  const target = `${PI_AI}@${manifest.version}`;
  const packed = execFileSync("npm", ["pack", target, "--json", "--pack-destination", scratch], {
    encoding: "utf8",
  });
  const [{ filename, integrity }] = JSON.parse(packed) as [{ filename: string; integrity: string }];
  execFileSync("tar", ["-xzf", join(scratch, filename), "-C", scratch]);
  const data = join(scratch, "package", "dist", "providers", "data");
  const lines: object[] = [
    {
      name: PI_AI,
      version: manifest.version,
      date: manifest.time[manifest.version]?.slice(0, 10),
      license: manifest.license,
      integrity,
    },
  ];
  for (const file of readdirSync(data).sort()) {
    if (!/^[a-z].*\.json$/.test(file)) continue;
    const groups = JSON.parse(readFileSync(join(data, file), "utf8")) as Record<
      string,
      Record<string, PackedModel>
    >;
    const models = Object.values(groups)
      .flatMap((group) => Object.values(group))
      .filter(({ type }) => type === undefined || type === "chat")
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id, cost, contextWindow } of models)
      lines.push({ provider: file.replace(/\.json$/, ""), id, cost, contextWindow });
  }
  writeFileSync(PI_AI_FILE, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
} finally {
  rmSync(scratch, { recursive: true });
}
