import { createHash } from "node:crypto";
import { dirname, posix } from "node:path";
import { groupChunks } from "./group-chunks.ts";

/** One of the outputs of a bundle that was split. */
export interface Output {
  /** Below the project, with slashes. */
  path: string;
  text: string;
  exports: readonly string[];
  /** The paths of the outputs that are loaded with it. */
  imports: readonly string[];
  isEntry: boolean;
}

/** What an import leads to: a module of the second build, or what stays outside of its file. */
type Target = { path: string; namespace: Namespace } | { path: string; external: true };

/** A part is an output. A joined file is made of several. What is passed on are the exports of a part of another file. */
type Namespace = "part" | "joined" | "passed-on";

/** An import in a module of the second build. */
interface Import {
  path: string;
  importer: string;
  namespace: string;
  isDynamic: boolean;
}

/** How a second build, whose modules are the outputs of the first, joins them. */
export interface Joining {
  entryPoints: { in: string; out: string }[];
  resolve(imported: Import): Target;
  load(path: string, namespace: string): string;
}

/** An output, and what it becomes part of. */
interface Part {
  text: string;
  exports: readonly string[];
  /** Before the name of an export, so that two parts of a file may export the same name; null where the file is the part. */
  prefix: string | null;
  /** The path of the file below the output directory. */
  file: string;
}

/** The kinds of module that an entry point or a joined file names, before a colon. */
const NAMED = /^(part|joined):(.*)$/;

/**
 * Joins the outputs of a bundle that was split, as {@link groupChunks} decides. A bundler joins them, in a second build
 * that asks this where each import leads.
 * @param outdir below the project
 */
export function joinChunks(outputs: readonly Output[], outdir: string): Joining {
  const groups = groupChunks(outputs.map((output) => ({ ...output, bytes: output.text.length })));
  const parts = new Map<string, Part>();
  for (const { path, text, exports } of outputs)
    parts.set(path, { text, exports, prefix: null, file: posix.relative(outdir, path) });
  for (const members of groups) {
    const file = `chunks/joined-${hashOf(members)}.js`;
    for (const [index, path] of members.entries()) {
      const part = parts.get(path);
      if (part !== undefined) parts.set(path, { ...part, prefix: `m${index}_`, file });
    }
  }
  const single = [...parts].filter(([, { prefix }]) => prefix === null);
  const joined = new Set([...parts.values()].filter(({ prefix }) => prefix !== null).map(({ file }) => file));
  return {
    entryPoints: [
      ...single.map(([path, { file }]) => ({ in: `part:${path}`, out: withoutExtension(file) })),
      ...[...joined].map((file) => ({ in: `joined:${file}`, out: withoutExtension(file) })),
    ],
    resolve: (imported) => resolveImport(imported, parts),
    load: (path, namespace) => loadModule(path, namespace, parts),
  };
}

function resolveImport(
  { path, importer, namespace, isDynamic }: Import,
  parts: ReadonlyMap<string, Part>,
): Target {
  const [, kind, name = ""] = NAMED.exec(path) ?? [];
  if (kind === "part" || kind === "joined") return { path: name, namespace: kind };
  const imported = posix.join(dirname(importer), path);
  const [from, to] = [parts.get(importer), parts.get(imported)];
  const isPart = namespace === "part" && path.startsWith(".");
  if (!isPart || from === undefined || to === undefined) return { path, external: true };
  if (from.file === to.file && !isDynamic) return { path: imported, namespace: "part" };
  const specifier = posix.relative(dirname(from.file), to.file).replace(/^(?!\.)/, "./");
  if (to.prefix === null) return { path: specifier, external: true };
  return { path: `${imported} ${specifier}`, namespace: "passed-on" };
}

function loadModule(path: string, namespace: string, parts: ReadonlyMap<string, Part>): string {
  if (namespace === "part") return parts.get(path)?.text ?? "";
  if (namespace === "joined")
    return [...parts]
      .filter(([, { file }]) => file === path)
      .map(([name, part]) => passOn(`part:${name}`, part, (original, own) => `${original} as ${own}`))
      .join("");
  const [imported = "", specifier = ""] = path.split(" ");
  return passOn(specifier, parts.get(imported), (original, own) => `${own} as ${original}`);
}

/** A module that is evaluated for the other, and exports what that exports, under other names. */
function passOn(
  from: string,
  part: Part | undefined,
  alias: (original: string, own: string) => string,
): string {
  const names = (part?.exports ?? []).map((name) => alias(name, `${part?.prefix}${name}`));
  return `import "${from}"; export { ${names.join(", ")} } from "${from}";\n`;
}

/** The names of chunks contain hashes of their contents, and so does this one. */
function hashOf(paths: readonly string[]): string {
  return createHash("sha256").update(paths.join()).digest("hex").slice(0, 8).toUpperCase();
}

function withoutExtension(file: string): string {
  return file.replace(/\.js$/, "");
}
