import { createHash } from "node:crypto";
import { dirname, posix } from "node:path";
import type { BuildOptions, Metafile, OutputFile, Plugin } from "esbuild";
import { groupChunks } from "./group-chunks.ts";

/** One of esbuild's outputs: what it exports, and what it becomes part of. */
interface Part {
  text: string;
  exports: readonly string[];
  /** Before the name of an export, so that two parts of a file may export the same name; null where the file is the part. */
  prefix: string | null;
  /** The path of the file below the output directory. */
  file: string;
}

/** What the second build of a bundle differs in from the first. */
type SecondBuild = Required<Pick<BuildOptions, "entryPoints" | "splitting" | "plugins">>;

/**
 * Joins the chunks that esbuild has split a bundle into, as {@link groupChunks} decides. esbuild itself joins them, in a second build
 * whose modules are the chunks.
 * @param outputs of the first build, not written
 * @param used the paths of those that the bundle needs
 */
export function joinChunks(
  outputs: readonly OutputFile[],
  { outputs: described }: Metafile,
  used: ReadonlySet<string>,
  outdir: string,
): SecondBuild {
  const importsOf = (path: string) =>
    (described[path]?.imports ?? []).filter(
      ({ kind, path: to }) => kind === "import-statement" && used.has(to),
    );
  const groups = groupChunks(
    [...used].map((path) => ({
      path,
      bytes: described[path]?.bytes ?? 0,
      imports: importsOf(path).map((imported) => imported.path),
      isEntry: described[path]?.entryPoint !== undefined,
    })),
  );
  const parts = new Map<string, Part>();
  const add = (path: string, file: string, prefix: string | null) => {
    const text = outputs.find((output) => output.path.endsWith(`/${path}`))?.text ?? "";
    parts.set(path, {
      text,
      exports: described[path]?.exports ?? [],
      prefix,
      file: posix.relative(outdir, file),
    });
  };
  for (const path of used) add(path, path, null);
  for (const members of groups) {
    const file = `${outdir}/chunks/joined-${hashOf(members)}.js`;
    for (const [index, path] of members.entries()) add(path, file, `m${index}_`);
  }
  const single = [...parts].filter(([, { prefix }]) => prefix === null);
  return {
    entryPoints: [
      ...single.map(([path, { file }]) => ({ in: `part:${path}`, out: withoutExtension(file) })),
      ...groups.map(([path = ""]) => {
        const file = parts.get(path)?.file ?? "";
        return { in: `joined:${file}`, out: withoutExtension(file) };
      }),
    ],
    splitting: false,
    plugins: [loadParts(parts)],
  };
}

/** The names of esbuild's chunks contain hashes of their contents, and so does this one. */
function hashOf(paths: readonly string[]): string {
  return createHash("sha256").update(paths.join()).digest("hex").slice(0, 8).toUpperCase();
}

function withoutExtension(file: string): string {
  return file.replace(/\.js$/, "");
}

/** Loads parts as modules. A part of another file is a module that only passes on what that file exports. */
function loadParts(parts: ReadonlyMap<string, Part>): Plugin {
  const contentsOf = (path: string, from: string) =>
    parts.get(path)?.exports.map((name) => [name, `${parts.get(path)?.prefix}${name}`, from] as const) ?? [];
  return {
    name: "parts",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(part|joined):/ }, ({ path }) => {
        const [, namespace = "", name = ""] = /^(\w+):(.*)$/.exec(path) ?? [];
        return { path: name, namespace };
      });
      onResolve({ filter: /.*/, namespace: "part" }, ({ path, importer, kind }) => {
        const imported = posix.join(dirname(importer), path);
        const [from, to] = [parts.get(importer), parts.get(imported)];
        if (!path.startsWith(".") || from === undefined || to === undefined) return { path, external: true };
        if (from.file === to.file && kind === "import-statement")
          return { path: imported, namespace: "part" };
        const specifier = posix.relative(dirname(from.file), to.file).replace(/^(?!\.)/, "./");
        if (to.prefix === null) return { path: specifier, external: true };
        return { path: `${imported} ${specifier}`, namespace: "passed-on" };
      });
      onResolve({ filter: /.*/, namespace: "passed-on" }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: /.*/, namespace: "part" }, ({ path }) => ({ contents: parts.get(path)?.text ?? "" }));
      onLoad({ filter: /.*/, namespace: "joined" }, ({ path: file }) => ({
        contents: [...parts]
          .filter(([, part]) => part.file === file)
          .map(([path]) => {
            const names = contentsOf(path, path).map(([name, alias]) => `${name} as ${alias}`);
            return `import "part:${path}"; export { ${names.join(", ")} } from "part:${path}";\n`;
          })
          .join(""),
      }));
      onLoad({ filter: /.*/, namespace: "passed-on" }, ({ path }) => {
        const [imported = "", specifier = ""] = path.split(" ");
        const names = contentsOf(imported, specifier).map(([name, alias]) => `${alias} as ${name}`);
        const from = JSON.stringify(specifier);
        return { contents: `import ${from}; export { ${names.join(", ")} } from ${from};\n` };
      });
    },
  };
}
